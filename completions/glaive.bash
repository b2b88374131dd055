# bash completion for glaive. Commands and options come from the program's own help, so they are never out of date.
_glaive() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local word group="" command="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    case $word in
      --db | --url | --api-key) ((i++)) ;;
      -*) ;;
      *) if [ -z "$group" ]; then group=$word; elif [ -z "$command" ]; then command=$word; fi ;;
    esac
  done
  case $previous in
    --db) mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
    --format) mapfile -t COMPREPLY < <(compgen -W "table csv jsonl arrow" -- "$current"); return ;;
    --storage-version) mapfile -t COMPREPLY < <(compgen -W "2.0 2.1 2.2" -- "$current"); return ;;
    --data) mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
    --tls-cert | --tls-key | --access-log) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    --scope) mapfile -t COMPREPLY < <(compgen -W "read write admin" -- "$current"); return ;;
    --gzip) mapfile -t COMPREPLY < <(compgen -W "default always never" -- "$current"); return ;;
    --require) mapfile -t COMPREPLY < <(compgen -W "incremental" -- "$current"); return ;;
    -m | --metric) mapfile -t COMPREPLY < <(compgen -W "l2 cosine dot hamming" -- "$current"); return ;;
    --stored-form) mapfile -t COMPREPLY < <(compgen -W "select query" -- "$current"); return ;;
    -o | --output) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
  esac
  if [ -z "$group" ] && [[ $current != -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "ns table view query search job serve key" -- "$current")
  elif [ -z "$command" ] && [[ $group =~ ^(ns|table|view|job|key)$ && $current != -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(glaive --help | sed -n "s/^  glaive $group \([a-z]*\).*/\1/p")" -- "$current")
  elif [[ $current == -* ]]; then
    # shellcheck disable=SC2086
    mapfile -t COMPREPLY < <(compgen -W "$(glaive $group $command --help 2>/dev/null | grep -oE -- '--[a-z-]+')" -- "$current")
  elif [ "$group $command $previous" = "table tag tag" ]; then
    mapfile -t COMPREPLY < <(compgen -W "list set drop" -- "$current")
  elif [ "$group $command" = "table import" ] || [ "$group $command" = "table export" ] || [ "$group $command" = "table merge" ]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  elif [ "$group" = view ]; then
    mapfile -t COMPREPLY < <(compgen -W "$(glaive view list --recursive 2>/dev/null | sed '1d;s/ .*//')" -- "$current")
  elif [ "$group" = table ] || [ "$group" = search ]; then
    mapfile -t COMPREPLY < <(compgen -W "$(glaive table list 2>/dev/null)" -- "$current")
  elif [ "$group" = ns ]; then
    mapfile -t COMPREPLY < <(compgen -W "$(glaive ns list 2>/dev/null)" -- "$current")
  fi
}
complete -F _glaive glaive
