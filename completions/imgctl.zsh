#compdef imgctl
# Completes the command line of imgctl in zsh: offers what `imgctl __complete` prints.

_imgctl() {
  local line tab=$'\t'
  local -a said values shown options
  local -i width
  said=("${(@f)$(command imgctl __complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" </dev/null 2>/dev/null)}")
  case $said[-1] in
    :nospace) options=(-S '') ;;
    :files) compset -P 1 '--*='; _files; return ;;
    :folders) compset -P 1 '--*='; _files -/; return ;;
    :packages) _files -g '*.(#i)(ova|ovf)'; return ;;
  esac
  values=("${(@)said[1,-2]%%$tab*}")
  for line in $values; do (($#line <= width)) || width=$#line; done
  for line in "${(@)said[1,-2]}"; do
    # Descriptions need one line per candidate.
    if [[ $line == *$tab* ]]; then options+=(-l) line="${(r:width:)line%%$tab*}  -- ${line#*$tab}"; fi
    shown+=("${line[1,COLUMNS-1]}")
  done
  # A group of its own keeps the order: sync requests are newest first.
  compadd -V imgctl "${(@u)options}" -d shown -a -- values
}

if [[ $funcstack[1] == _imgctl ]]; then
  _imgctl "$@"
elif (($+functions[compdef])); then
  compdef _imgctl imgctl
fi
