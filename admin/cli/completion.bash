# Completion of NAME for bash: the program itself says what may come next.
_NAME_complete() {
	local current=${COMP_WORDS[COMP_CWORD]} ask
	ask=("${COMP_WORDS[@]:0:COMP_CWORD}")
	[[ $current == -* ]] && ask+=("$current")
	mapfile -t COMPREPLY < <(
		compgen -W "$("${ask[@]}" --generate-bash-completion 2>/dev/null)" -- "$current"
	)
}
complete -o bashdefault -o default -F _NAME_complete NAME
