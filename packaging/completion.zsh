#compdef faultline
# Completion for zsh. Verbs and options are what the command itself says of them.
local command=$words[1] verb=$words[2] before=$words[CURRENT-1]
local -a choices
if (( CURRENT == 2 )); then
    choices=(${(f)"$($command --help 2>/dev/null | sed -n 's/:/\\:/g; s/^  \([a-z]*\)  *\(.*\)/\1:\2/p')"})
    _describe verb choices
    return
fi
case $before in
--engine) choices=(mpiexec step) ;;
--strategy) choices=(random systematic pct swarm skewed bursts guided auto) ;;
--format) choices=(text json columns shiviz perfetto otf2) ;;
--claims | claims) choices=(${(f)"$($command claims 2>/dev/null | sed -n 's/^\([A-Z]\.[a-z.-]*\).*/\1/p')"}) ;;
*)
    if [[ $words[CURRENT] != -* ]]; then
        _files
        return
    fi
    choices=(${(f)"$($command $verb --help 2>/dev/null |
        sed -n 's/:/\\:/g; s/^ *\(-., \)\{0,1\}\(--[a-z-]*\)[^ ]*  *\(.*\)/\2:\3/p')"})
    ;;
esac
_describe word choices
