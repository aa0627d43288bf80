# Completes the command line of imgctl in bash, from 3.2 on; it needs no other package.
# Made from the command tree by `npm run generate`: change src/reference/completions instead.

# What a command takes: $subcommands, $flags, $kinds of its arguments, $variadic where the last may come again.
_imgctl_command() {
  subcommands='' flags='' kinds=() variadic=''
  case $1 in
    '')
      subcommands='login logout whoami token images my-images sync sync-status inspect validate api config profile doctor emulator demo completion help'
      ;;
    login)
      flags='--username --password-stdin --password-command --store-password -h --help'
      ;;
    logout)
      flags='--all -h --help'
      ;;
    whoami)
      flags='--check -h --help'
      ;;
    token)
      flags='-h --help'
      ;;
    images)
      subcommands='list ls get help'
      flags='-h --help'
      ;;
    'images list' | 'images ls')
      flags='-f --filter -s --sort --limit --fail-empty --meta --columns --no-header --time --page --per-page --urls -h --help'
      kinds=(none) variadic=1
      ;;
    'images get')
      flags='--columns --no-header --time -h --help'
      kinds=('ask image-names') variadic=1
      ;;
    'images help')
      kinds=(none)
      ;;
    my-images)
      flags='-f --filter -s --sort --limit --fail-empty --meta --columns --no-header --time -h --help'
      kinds=(none) variadic=1
      ;;
    sync)
      flags='--wait --poll-interval --wait-timeout --dry-run -h --help'
      ;;
    sync-status)
      flags='--wait --poll-interval --wait-timeout --list -h --help'
      kinds=('ask sync-ids')
      ;;
    inspect)
      flags='-h --help'
      kinds=(files) variadic=1
      ;;
    validate)
      flags='-h --help'
      kinds=(files) variadic=1
      ;;
    api)
      flags='-X --method -f --field -i --include --paginate -h --help'
      kinds=('words /v2 /v2/image /v2/user/image/vm /v2/request/image_sync/')
      ;;
    config)
      subcommands='list get set unset path help'
      flags='-h --help'
      ;;
    'config list')
      flags='-h --help'
      ;;
    'config get')
      flags='-h --help'
      kinds=('words base-url username password-command output timeout retries concurrency columns.images columns.my-images auth-scheme allow-http ca-file time')
      ;;
    'config set')
      flags='-h --help'
      kinds=('words base-url username password-command output timeout retries concurrency columns.images columns.my-images auth-scheme allow-http ca-file time' setting)
      ;;
    'config unset')
      flags='-h --help'
      kinds=('words base-url username password-command output timeout retries concurrency columns.images columns.my-images auth-scheme allow-http ca-file time')
      ;;
    'config path')
      flags='-h --help'
      ;;
    'config help')
      kinds=(none)
      ;;
    profile)
      subcommands='list use delete help'
      flags='-h --help'
      ;;
    'profile list')
      flags='-h --help'
      ;;
    'profile use')
      flags='-h --help'
      kinds=('ask profiles')
      ;;
    'profile delete')
      flags='-h --help'
      kinds=('ask profiles')
      ;;
    'profile help')
      kinds=(none)
      ;;
    doctor)
      flags='-h --help'
      ;;
    emulator)
      flags='--host --port --images --uploads --user --denied-user --token-ttl --token-limit --token-window --latency --sync-delay --fault --seed -h --help'
      ;;
    demo)
      flags='-h --help'
      ;;
    completion)
      flags='-h --help'
      kinds=('words bash zsh fish powershell')
      ;;
    help)
      flags='-h --help'
      kinds=('help filters output environment exit-codes') variadic=1
      ;;
  esac
}

# The $kind of value that an option of a command takes; fails where it takes none.
_imgctl_value() {
  case $1:$2 in
    login:--username) kind=none ;;
    login:--password-command) kind=none ;;
    'images list:-f' | 'images list:--filter' | 'images ls:-f' | 'images ls:--filter') kind='steps id name path label folder data_store public created_on updated_on : eq, ne, lt, le, gt, ge, like, in,' ;;
    'images list:-s' | 'images list:--sort' | 'images ls:-s' | 'images ls:--sort') kind='steps id name path label folder data_store public created_on updated_on : asc desc' ;;
    'images list:--limit' | 'images ls:--limit') kind=none ;;
    'images list:--columns' | 'images ls:--columns') kind='list id name path label folder data_store public created_on updated_on all' ;;
    'images list:--time' | 'images ls:--time') kind='words wire iso local age' ;;
    'images list:--page' | 'images ls:--page') kind=none ;;
    'images list:--per-page' | 'images ls:--per-page') kind=none ;;
    'images get:--columns') kind='list id name path label folder data_store public created_on updated_on all' ;;
    'images get:--time') kind='words wire iso local age' ;;
    my-images:-f | my-images:--filter) kind='steps id name path label folder data_store public created_on updated_on : eq, ne, lt, le, gt, ge, like, in,' ;;
    my-images:-s | my-images:--sort) kind='steps id name path label folder data_store public created_on updated_on : asc desc' ;;
    my-images:--limit) kind=none ;;
    my-images:--columns) kind='list id name path label folder data_store public created_on updated_on all' ;;
    my-images:--time) kind='words wire iso local age' ;;
    sync:--poll-interval) kind=none ;;
    sync:--wait-timeout) kind=none ;;
    sync-status:--poll-interval) kind=none ;;
    sync-status:--wait-timeout) kind=none ;;
    api:-X | api:--method) kind='words GET HEAD OPTIONS POST PUT PATCH DELETE' ;;
    api:-f | api:--field) kind=none ;;
    emulator:--host) kind=none ;;
    emulator:--port) kind=none ;;
    emulator:--images) kind=none ;;
    emulator:--uploads) kind=directories ;;
    emulator:--user) kind=none ;;
    emulator:--denied-user) kind=none ;;
    emulator:--token-ttl) kind=none ;;
    emulator:--token-limit) kind=none ;;
    emulator:--token-window) kind=none ;;
    emulator:--latency) kind=none ;;
    emulator:--sync-delay) kind=none ;;
    emulator:--fault) kind=none ;;
    emulator:--seed) kind=none ;;
    *:--profile) kind='ask profiles' ;;
    *:--base-url) kind=none ;;
    *:-o | *:--output) kind='words table json ndjson yaml csv tsv' ;;
    *:--timeout) kind=none ;;
    *:--retries) kind=none ;;
    *:--color) kind='words auto always never' ;;
    *) kind='' ; return 1 ;;
  esac
}

# The $kind of value that a setting takes.
_imgctl_setting() {
  case $1 in
    columns.images) kind='list id name path label folder data_store public created_on updated_on all' ;;
    columns.my-images) kind='list id name path label folder data_store public created_on updated_on all' ;;
    ca-file) kind=files ;;
    output) kind='words table json ndjson yaml csv tsv' ;;
    auth-scheme) kind='words bearer basic' ;;
    allow-http) kind='words true false' ;;
    time) kind='words wire iso local age' ;;
    *) kind=none ;;
  esac
}

# Puts the $words before the cursor and the $current one together again: readline splits at = and : as well.
# $settled is that part of the current word which readline leaves alone.
_imgctl_split() {
  local rest=$COMP_LINE gap piece index last=-1
  for ((index = 0; index <= COMP_CWORD; index++)); do
    piece=${COMP_WORDS[index]}
    gap=${rest%%[![:blank:]]*}
    rest=${rest#"$gap"}
    rest=${rest#"$piece"}
    if [[ $last -lt 0 || -n $gap ]]; then
      ((last += 1))
      words[last]=$piece
      settled=''
    else
      settled=${words[last]}
      words[last]+=$piece
    fi
    case $piece in [=:@]*) settled=${words[last]} ;; esac
  done
  current=${words[last]}
  unset "words[$last]"
}

# The text of a word, without expanding anything: $plain, the $quote that is still open, what stands $before it.
_imgctl_unquote() {
  local rest=$1 char
  plain='' quote='' before=''
  while [[ -n $rest ]]; do
    char=${rest:0:1}
    rest=${rest:1}
    case $quote$char in
      "''" | '""') quote='' ;;
      "'" | '"') quote=$char before=$plain ;;
      \\)
        plain+=${rest:0:1}
        rest=${rest:1}
        ;;
      '"\')
        case $rest in [\\\"\$\`]*) ;; *) plain+=$char ;; esac
        plain+=${rest:0:1}
        rest=${rest:1}
        ;;
      *) plain+=$char ;;
    esac
  done
}

# Reads the words before the cursor: the command as $node, its arguments as $rest, an option that waits for its
# value as $pending, whether -- has $ended the options, and in $scope whose values are wanted.
_imgctl_walk() {
  local word plain quote before letters
  for word in "${words[@]:1}"; do
    _imgctl_unquote "$word"
    word=$plain
    if [[ -n $pending ]]; then
      case $pending in --profile | --base-url) scope+=("$pending=$word") ;; esac
      pending=''
    elif [[ -n $ended ]]; then
      rest+=("$word")
    else
      case $word in
        --) ended=1 ;;
        --profile=* | --base-url=*) scope+=("$word") ;;
        --*=*) ;;
        --*) if _imgctl_value "$node" "$word"; then pending=$word; fi ;;
        -?*)
          for ((letters = 1; letters < ${#word}; letters++)); do
            _imgctl_value "$node" "-${word:letters:1}" || continue
            if ((letters + 1 == ${#word})); then pending=-${word:letters:1}; fi
            break
          done
          ;;
        *)
          _imgctl_command "$node"
          if [[ ${#rest[@]} -eq 0 && " $subcommands " == *" $word "* ]]; then
            node=${node:+$node }$word
          else
            rest+=("$word")
          fi
          ;;
      esac
    fi
  done
}

# Adds to $found what a value of this kind can be, given the text typed so far.
_imgctl_find() {
  local kind=${1%% *} choices=${1#* } text=$2 item chosen
  case $kind in
    words) for item in $choices; do found+=("$item"); done ;;
    list)
      chosen=${text%"${text##*,}"}
      open=1
      for item in $choices; do
        case ,$chosen in
          ,?*) if [[ $item == all || ,$chosen == *",$item,"* ]]; then continue; fi ;;
        esac
        found+=("$chosen$item")
      done
      ;;
    steps)
      chosen=${text%%,*}
      if [[ $text != *,* ]]; then
        for item in ${choices%% : *}; do found+=("$item,"); done
      elif [[ " ${choices%% : *} " == *" $chosen "* ]]; then
        for item in ${choices##* : }; do found+=("$chosen,$item"); done
      fi
      ;;
    files) compopt -o default 2>/dev/null ;;
    directories) compopt -o dirnames 2>/dev/null ;;
    ask)
      while IFS= read -r -d '' item; do
        # Without -- before it such a name would be an option.
        if [[ $item != -* || -n $ended ]]; then found+=("$item"); fi
      done < <(command imgctl __complete "$choices" ${scope[@]+"${scope[@]}"} -- "$text" </dev/null 2>/dev/null)
      ;;
    setting)
      _imgctl_setting "${rest[${#rest[@]} - 1]}"
      _imgctl_find "$kind" "$text"
      ;;
    help)
      _imgctl_command "${rest[*]}"
      for item in $subcommands; do found+=("$item"); done
      if [[ ${#rest[@]} -eq 0 ]]; then for item in $choices; do found+=("$item"); done; fi
      ;;
  esac
}

# Puts a text into COMPREPLY as readline wants it: quoted, without what it leaves alone.
_imgctl_reply() {
  local text=$1
  if [[ -n $quote ]]; then
    text=${text#"$before"}
    # Between quotes there is no harmless way to write these.
    if [[ $text == *[[:cntrl:]]* || $quote$text == '"'*!* ]]; then return; fi
  fi
  case $quote in
    "'") text=${text//\'/"'\\''"} ;;
    '"')
      text=${text//\\/\\\\}
      text=${text//\"/\\\"}
      text=${text//\$/\\\$}
      text=${text//\`/\\\`}
      ;;
    *)
      case $text in *[![:alnum:]_.,:=@/+-]*) printf -v text %q "$text" ;; esac
      if [[ $text != "$settled"* ]]; then return; fi
      text=${text#"$settled"}
      ;;
  esac
  # Readline closes the quote, unless the text seems to do that.
  if [[ -n $quote && $text == *"$quote" ]]; then text+=$quote; fi
  COMPREPLY+=("$text")
}

_imgctl() {
  local IFS=$' \t\n' words=() current='' settled='' node='' pending='' ended='' rest=() scope=()
  local subcommands flags kinds variadic kind plain quote before lead='' open='' found=() item
  COMPREPLY=()
  _imgctl_split
  _imgctl_walk
  _imgctl_unquote "$current"
  if [[ -n $pending ]]; then
    _imgctl_value "$node" "$pending"
  elif [[ -z $ended && $plain == --*=* ]] && _imgctl_value "$node" "${plain%%=*}"; then
    lead=${plain%%=*}=
  elif [[ -z $ended && $plain == -[!-]?* ]] && _imgctl_value "$node" "${plain:0:2}"; then
    lead=${plain:0:2}
  else
    _imgctl_command "$node"
    if [[ -z $ended && $plain == -* ]]; then
      kind="words $flags -V --version --profile --base-url -o --output --json --timeout --retries --debug --color -q --quiet -h --help"
    elif [[ ${#rest[@]} -eq 0 && -n $subcommands ]]; then
      kind="words $subcommands"
    elif [[ ${#rest[@]} -lt ${#kinds[@]} ]]; then
      kind=${kinds[${#rest[@]}]}
    elif [[ -n $variadic ]]; then
      kind=${kinds[${#kinds[@]} - 1]}
    else
      kind=none
    fi
  fi
  _imgctl_find "$kind" "${plain#"$lead"}"
  for item in ${found[@]+"${found[@]}"}; do
    if [[ $lead$item == "$plain"* ]]; then _imgctl_reply "$lead$item"; fi
  done
  if [[ -n $open || ${COMPREPLY[0]-} == *, ]]; then compopt -o nospace 2>/dev/null; fi
}

complete -F _imgctl imgctl
