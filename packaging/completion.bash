# Completion for bash. Verbs and options are what the command itself says of them.
_faultline() {
    local command=${COMP_WORDS[0]} verb=${COMP_WORDS[1]}
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=
    # bash splits --engine=step into three words.
    [ "$before" != '=' ] || before=${COMP_WORDS[COMP_CWORD - 2]}
    [ "$word" != '=' ] || { before=${COMP_WORDS[COMP_CWORD - 1]} word=; }
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="$("$command" --help 2>/dev/null | sed -n 's/^  \([a-z]*\)  *.*/\1/p') --help --version"
    else
        case $before in
        --engine) words="mpiexec step" ;;
        --strategy) words="random systematic pct swarm skewed bursts guided auto" ;;
        --format) words="text json columns shiviz perfetto otf2" ;;
        --claims | claims) words=$("$command" claims 2>/dev/null | sed -n 's/^\([A-Z]\.[a-z.-]*\).*/\1/p') ;;
        *) [[ $word != -* ]] || words=$("$command" "$verb" --help 2>/dev/null |
            sed -n 's/^ *\(-., \)\{0,1\}\(--[a-z-]*\).*/\2/p') ;;
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _faultline faultline
