# Completion of the jounce command for bash: verbs and options as their --help lists them, else files.
# Installed to share/bash-completion/completions; or: source src/cli/completion.bash
_jounce()
{
    local current=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]}
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "$(jounce --help | sed -n 's/^  \([a-z]*\) .*/\1/p' | sort -u) --help --version" -- "$current"))
        return
    fi
    if [ "$verb" = springs ]; then
        verb="springs ${COMP_WORDS[2]}"
        if [ "$COMP_CWORD" -eq 2 ]; then
            COMPREPLY=($(compgen -W "run fit draw" -- "$current"))
            return
        fi
    fi
    case $current in
    -*) COMPREPLY=($(compgen -W "$(jounce $verb --help 2>/dev/null | sed -n 's/^  \(--*[a-z-]*\).*/\1/p')" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current")) ;;
    esac
}
complete -o filenames -F _jounce jounce
