#compdef NAME
# Completion of NAME for zsh: the program itself says what may come next.
_NAME() {
	local -a ask candidates
	ask=("${(@)words[1,CURRENT-1]}")
	[[ ${words[CURRENT]} == -* ]] && ask+=("${words[CURRENT]}")
	candidates=("${(@f)$("${ask[@]}" --generate-bash-completion 2>/dev/null)}")
	if [[ -n ${candidates[1]} ]]; then
		_describe NAME candidates
	else
		_files
	fi
}
compdef _NAME NAME
