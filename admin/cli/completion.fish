# Completion of NAME for fish: the program itself says what may come next.
function __NAME_complete
    set -l ask (commandline -opc)
    set -l current (commandline -ct)
    string match -q -- '-*' $current; and set -a ask $current
    command $ask --generate-bash-completion 2>/dev/null | string replace -r ':(?=\S)' \t
end
complete -c NAME -f -a '(__NAME_complete)'
