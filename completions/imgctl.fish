# Completes the command line of imgctl in fish.
# Made from the command tree by `npm run generate`: change src/reference/completions instead.

# The functions below share the variables of __imgctl_complete.

# What a command takes: $subcommands and $flags with what they mean, $kinds of its arguments, $variadic where the
# last may come again.
function __imgctl_command -S
    set subcommands
    set flags
    set kinds
    set variadic
    switch "$argv"
        case ''
            set subcommands \
                login\t'log in and cache an access token' \
                logout\t'forget the cached token and a stored password' \
                whoami\t'show profile, service, user and token state' \
                token\t'print a valid access token' \
                images\t'the public image catalogue' \
                my-images\t'list the user\'s own images' \
                sync\t'submit an image sync after an upload' \
                sync-status\t'show or follow a sync request' \
                inspect\t'show what is in a local OVA or OVF package' \
                validate\t'check a local OVA or OVF package before its upload' \
                api\t'send any authenticated request' \
                config\t'show and change settings' \
                profile\t'the profiles, the default one, away with one' \
                doctor\t'check configuration, network and login, with a remedy for what is wrong' \
                emulator\t'run the embedded service on this machine' \
                demo\t'the whole job against a fresh embedded service' \
                completion\t'print the completion script of a shell' \
                help\t'show help of a command or topic'
        case 'login'
            set flags \
                --username\t'user name of the account' \
                --password-stdin\t'read the password from standard input' \
                --password-command\t'run by the shell; its first output line is the password' \
                --store-password\t'keep the password in the system keychain' \
                -h\t'display help for command' \
                --help\t'display help for command'
        case 'logout'
            set flags \
                --all\t'the tokens and stored passwords of all profiles' \
                -h\t'display help for command' \
                --help\t'display help for command'
        case 'whoami'
            set flags \
                --check\t'prove the token against the service' \
                -h\t'display help for command' \
                --help\t'display help for command'
        case 'token'
            set flags \
                -h\t'display help for command' \
                --help\t'display help for command'
        case 'images'
            set subcommands \
                list\t'list and filter images' \
                ls\t'list and filter images' \
                get\t'show images by id or name' \
                help\t'display help for command'
            set flags \
                -h\t'display help for command' \
                --help\t'display help for command'
        case 'images list' 'images ls'
            set flags \
                -f\t'eq ne lt le gt ge like in; repeatable, all must hold' \
                --filter\t'eq ne lt le gt ge like in; repeatable, all must hold' \
                -s\t'asc or desc; repeatable, most significant first' \
                --sort\t'asc or desc; repeatable, most significant first' \
                --limit\t'at most n images' \
                --fail-empty\t'exit 5 when nothing matches' \
                --meta\t'json and yaml: {"data": [...], "meta": {...}}' \
                --columns\t'fields to show, in this order, or all: id, name, path, label, folder, data_store, public, created_on, updated_on' \
                --no-header\t'tables, csv and tsv without the header line' \
                --time\t'time stamps: wire, iso, local, age (tables local, else wire)' \
                --page\t'exactly that page of the service' \
                --per-page\t'page size, 1 to 100 (100)' \
                --urls\t'the URL of each image, one a line' \
                -h\t'display help for command' \
                --help\t'display help for command'
            set kinds 'none'
            set variadic 1
        case 'images get'
            set flags \
                --columns\t'fields to show, in this order, or all: id, name, path, label, folder, data_store, public, created_on, updated_on' \
                --no-header\t'tables, csv and tsv without the header line' \
                --time\t'time stamps: wire, iso, local, age (tables local, else wire)' \
                -h\t'display help for command' \
                --help\t'display help for command'
            set kinds 'ask image-names'
            set variadic 1
        case 'images help'
            set kinds 'none'
        case 'my-images'
            set flags \
                -f\t'eq ne lt le gt ge like in; repeatable, all must hold' \
                --filter\t'eq ne lt le gt ge like in; repeatable, all must hold' \
                -s\t'asc or desc; repeatable, most significant first' \
                --sort\t'asc or desc; repeatable, most significant first' \
                --limit\t'at most n images' \
                --fail-empty\t'exit 5 when nothing matches' \
                --meta\t'json and yaml: {"data": [...], "meta": {...}}' \
                --columns\t'fields to show, in this order, or all: id, name, path, label, folder, data_store, public, created_on, updated_on' \
                --no-header\t'tables, csv and tsv without the header line' \
                --time\t'time stamps: wire, iso, local, age (tables local, else wire)' \
                -h\t'display help for command' \
                --help\t'display help for command'
            set kinds 'none'
            set variadic 1
        case 'sync'
            set flags \
                --wait\t'follow it to its end; exit 1 when it fails' \
                --poll-interval\t'fixed time between looks (2s growing to 15s)' \
                --wait-timeout\t'give up waiting after that, exit 7 (1h)' \
                --dry-run\t'show the request, prove the token, list the images; change nothing' \
                -h\t'display help for command' \
                --help\t'display help for command'
        case 'sync-status'
            set flags \
                --wait\t'follow it to its end; exit 1 when it fails' \
                --poll-interval\t'fixed time between looks (2s growing to 15s)' \
                --wait-timeout\t'give up waiting after that, exit 7 (1h)' \
                --list\t'those submitted from this machine with this profile, newest first' \
                -h\t'display help for command' \
                --help\t'display help for command'
            set kinds 'ask sync-ids'
        case 'inspect'
            set flags \
                -h\t'display help for command' \
                --help\t'display help for command'
            set kinds 'files'
            set variadic 1
        case 'validate'
            set flags \
                -h\t'display help for command' \
                --help\t'display help for command'
            set kinds 'files'
            set variadic 1
        case 'api'
            set flags \
                -X\t'HTTP method (GET)' \
                --method\t'HTTP method (GET)' \
                -f\t'query parameter; repeatable' \
                --field\t'query parameter; repeatable' \
                -i\t'show status and headers, too' \
                --include\t'show status and headers, too' \
                --paginate\t'follow meta.pages.next_url and print every page' \
                -h\t'display help for command' \
                --help\t'display help for command'
            set kinds 'words /v2 /v2/image /v2/user/image/vm /v2/request/image_sync/'
        case 'config'
            set subcommands \
                list\t'Show every setting, its value and where that comes from.' \
                get\t'Print one value.' \
                set\t'Keep a value in the profile.' \
                unset\t'Take a value out of the profile.' \
                path\t'Print where the settings are kept.' \
                help\t'display help for command'
            set flags \
                -h\t'display help for command' \
                --help\t'display help for command'
        case 'config list'
            set flags \
                -h\t'display help for command' \
                --help\t'display help for command'
        case 'config get'
            set flags \
                -h\t'display help for command' \
                --help\t'display help for command'
            set kinds 'words base-url username password-command output timeout retries concurrency columns.images columns.my-images auth-scheme allow-http ca-file time'
        case 'config set'
            set flags \
                -h\t'display help for command' \
                --help\t'display help for command'
            set kinds 'words base-url username password-command output timeout retries concurrency columns.images columns.my-images auth-scheme allow-http ca-file time' 'setting'
        case 'config unset'
            set flags \
                -h\t'display help for command' \
                --help\t'display help for command'
            set kinds 'words base-url username password-command output timeout retries concurrency columns.images columns.my-images auth-scheme allow-http ca-file time'
        case 'config path'
            set flags \
                -h\t'display help for command' \
                --help\t'display help for command'
        case 'config help'
            set kinds 'none'
        case 'profile'
            set subcommands \
                list\t'Show the profiles, and which one is the default.' \
                use\t'Make a profile the default.' \
                delete\t'Forget a profile: its settings, its tokens and its stored password.' \
                help\t'display help for command'
            set flags \
                -h\t'display help for command' \
                --help\t'display help for command'
        case 'profile list'
            set flags \
                -h\t'display help for command' \
                --help\t'display help for command'
        case 'profile use'
            set flags \
                -h\t'display help for command' \
                --help\t'display help for command'
            set kinds 'ask profiles'
        case 'profile delete'
            set flags \
                -h\t'display help for command' \
                --help\t'display help for command'
            set kinds 'ask profiles'
        case 'profile help'
            set kinds 'none'
        case 'doctor'
            set flags \
                -h\t'display help for command' \
                --help\t'display help for command'
        case 'emulator'
            set flags \
                --host\t'address to listen on (127.0.0.1)' \
                --port\t'port to listen on; 0 lets the system choose (8080)' \
                --images\t'size of the public catalogue (250)' \
                --uploads\t'folder with one sub-folder for each user, read by a sync' \
                --user\t'who may log in; repeatable (demo:demo)' \
                --denied-user\t'has an account, but no permission; repeatable' \
                --token-ttl\t'lifetime of a token (24h)' \
                --token-limit\t'token requests in a window (5)' \
                --token-window\t'length of that window (1m)' \
                --latency\t'wait before each answer' \
                --sync-delay\t'from the submit of a sync to its end (2s)' \
                --fault\t'misbehave, such as \'GET /v2/image=503,first=2\'; repeatable' \
                --seed\t'chooses the catalogue (1)' \
                -h\t'display help for command' \
                --help\t'display help for command'
        case 'demo'
            set flags \
                -h\t'display help for command' \
                --help\t'display help for command'
        case 'completion'
            set flags \
                -h\t'display help for command' \
                --help\t'display help for command'
            set kinds 'words bash zsh fish powershell'
        case 'help'
            set flags \
                -h\t'display help for command' \
                --help\t'display help for command'
            set kinds 'help filters output environment exit-codes'
            set variadic 1
    end
end

# The $kind of value that an option of a command takes; fails where it takes none.
function __imgctl_value -S
    switch "$argv[1]:$argv[2]"
        case 'login:--username'
            set kind 'none'
        case 'login:--password-command'
            set kind 'none'
        case 'images list:-f' 'images list:--filter' 'images ls:-f' 'images ls:--filter'
            set kind 'steps id name path label folder data_store public created_on updated_on : eq, ne, lt, le, gt, ge, like, in,'
        case 'images list:-s' 'images list:--sort' 'images ls:-s' 'images ls:--sort'
            set kind 'steps id name path label folder data_store public created_on updated_on : asc desc'
        case 'images list:--limit' 'images ls:--limit'
            set kind 'none'
        case 'images list:--columns' 'images ls:--columns'
            set kind 'list id name path label folder data_store public created_on updated_on all'
        case 'images list:--time' 'images ls:--time'
            set kind 'words wire iso local age'
        case 'images list:--page' 'images ls:--page'
            set kind 'none'
        case 'images list:--per-page' 'images ls:--per-page'
            set kind 'none'
        case 'images get:--columns'
            set kind 'list id name path label folder data_store public created_on updated_on all'
        case 'images get:--time'
            set kind 'words wire iso local age'
        case 'my-images:-f' 'my-images:--filter'
            set kind 'steps id name path label folder data_store public created_on updated_on : eq, ne, lt, le, gt, ge, like, in,'
        case 'my-images:-s' 'my-images:--sort'
            set kind 'steps id name path label folder data_store public created_on updated_on : asc desc'
        case 'my-images:--limit'
            set kind 'none'
        case 'my-images:--columns'
            set kind 'list id name path label folder data_store public created_on updated_on all'
        case 'my-images:--time'
            set kind 'words wire iso local age'
        case 'sync:--poll-interval'
            set kind 'none'
        case 'sync:--wait-timeout'
            set kind 'none'
        case 'sync-status:--poll-interval'
            set kind 'none'
        case 'sync-status:--wait-timeout'
            set kind 'none'
        case 'api:-X' 'api:--method'
            set kind 'words GET HEAD OPTIONS POST PUT PATCH DELETE'
        case 'api:-f' 'api:--field'
            set kind 'none'
        case 'emulator:--host'
            set kind 'none'
        case 'emulator:--port'
            set kind 'none'
        case 'emulator:--images'
            set kind 'none'
        case 'emulator:--uploads'
            set kind 'directories'
        case 'emulator:--user'
            set kind 'none'
        case 'emulator:--denied-user'
            set kind 'none'
        case 'emulator:--token-ttl'
            set kind 'none'
        case 'emulator:--token-limit'
            set kind 'none'
        case 'emulator:--token-window'
            set kind 'none'
        case 'emulator:--latency'
            set kind 'none'
        case 'emulator:--sync-delay'
            set kind 'none'
        case 'emulator:--fault'
            set kind 'none'
        case 'emulator:--seed'
            set kind 'none'
        case '*:--profile'
            set kind 'ask profiles'
        case '*:--base-url'
            set kind 'none'
        case '*:-o' '*:--output'
            set kind 'words table json ndjson yaml csv tsv'
        case '*:--timeout'
            set kind 'none'
        case '*:--retries'
            set kind 'none'
        case '*:--color'
            set kind 'words auto always never'
        case '*'
            set kind
            return 1
    end
    return 0
end

# The $kind of value that a setting takes.
function __imgctl_setting -S
    switch "$argv"
        case 'columns.images'
            set kind 'list id name path label folder data_store public created_on updated_on all'
        case 'columns.my-images'
            set kind 'list id name path label folder data_store public created_on updated_on all'
        case 'ca-file'
            set kind 'files'
        case 'output'
            set kind 'words table json ndjson yaml csv tsv'
        case 'auth-scheme'
            set kind 'words bearer basic'
        case 'allow-http'
            set kind 'words true false'
        case 'time'
            set kind 'words wire iso local age'
        case '*'
            set kind none
    end
end

# Reads the words before the cursor: the command as $node, its arguments as $rest, an option that waits for its
# value as $pending, whether -- has $ended the options, and in $scope whose values are wanted.
function __imgctl_walk -S
    for word in $words
        if test -n "$pending"
            if contains -- $pending --profile --base-url
                set -a scope "$pending=$word"
            end
            set pending
        else if test -n "$ended"
            set -a rest $word
        else
            switch $word
                case --
                    set ended 1
                case '--profile=*' '--base-url=*'
                    set -a scope $word
                case '--*=*'
                case '--*'
                    if __imgctl_value "$node" $word
                        set pending $word
                    end
                case '-*'
                    set -l letters (string split '' -- (string sub -s 2 -- $word))
                    while set -q letters[1]
                        if __imgctl_value "$node" -$letters[1]
                            if not set -q letters[2]
                                set pending -$letters[1]
                            end
                            break
                        end
                        set -e letters[1]
                    end
                case '*'
                    __imgctl_command $node
                    if not set -q rest[1]; and contains -- $word (string split -f1 \t -- $subcommands)
                        set node (string trim -- "$node $word")
                    else
                        set -a rest $word
                    end
            end
        end
    end
end

# Prints, each with a NUL after it, what a value of this kind can be after $lead, given the $text typed so far.
function __imgctl_offer -S
    set -l choices (string split ' ' -- $kind)
    set -l kind $choices[1]
    set -e choices[1]
    set -l found
    switch $kind
        case words
            set found $choices
        case list
            set -l chosen (string match -r -- '^.*,' $text)
            for item in $choices
                if test -z "$chosen"
                    set -a found $item
                else if test $item != all; and not contains -- $item (string split , -- $chosen)
                    set -a found $chosen$item
                end
            end
        case steps
            set -l middle (contains -i -- : $choices)
            set -l first (string split -f1 , -- $text)
            if not string match -q '*,*' -- $text
                set found $choices[1..(math $middle - 1)],
            else if contains -- "$first" $choices[1..(math $middle - 1)]
                set found $first,$choices[(math $middle + 1)..]
            end
        case files
            set found (__fish_complete_path $text)
        case directories
            set found (__fish_complete_directories $text '')
        case ask
            # Fish finds names by any part of them, ids are said only where one is typed.
            set -l prefix (string match -r '^\d+$' -- $text)
            for item in (command imgctl __complete $choices $scope -- $prefix </dev/null 2>/dev/null | string split0)
                # A tab would begin a description; without -- before it a dash would begin an option.
                if string match -q '*'\t'*' -- $item
                    continue
                end
                if test -n "$ended"; or not string match -q -- '-*' $item
                    set -a found $item
                end
            end
        case setting
            __imgctl_setting $rest[-1]
            __imgctl_offer
            return
        case help
            __imgctl_command $rest
            set found $subcommands
            if not set -q rest[1]
                set -a found $choices
            end
    end
    if set -q found[1]
        printf '%s\0' $lead$found
    end
end

function __imgctl_complete
    set -l words (commandline -opc)
    set -l text (commandline -ct)
    set -l lead ''
    set -l node
    set -l pending
    set -l ended
    set -l rest
    set -l scope
    set -l subcommands
    set -l flags
    set -l kinds
    set -l variadic
    set -l kind
    set -e words[1]
    __imgctl_walk
    set -l flag (string match -r -- '^--[^=]+(?==)' $text; or string match -r -- '^-[^-]' $text)
    if test -n "$pending"
        __imgctl_value "$node" $pending
    else if test -z "$ended"; and test "$flag" != "$text"; and __imgctl_value "$node" "$flag"
        set lead (string match -r -- '^--[^=]+=|^-[^-]' $text)
        set text (string replace -- $lead '' $text)
    else
        __imgctl_command $node
        if test -z "$ended"; and string match -q -- '-*' $text
            set flags $flags \
                -V\t'print the version' \
                --version\t'print the version' \
                --profile\t'settings and token of that name (default)' \
                --base-url\t'the service' \
                -o\t'table, json, ndjson, yaml, csv or tsv (table)' \
                --output\t'table, json, ndjson, yaml, csv or tsv (table)' \
                --json\t'the same as -o json' \
                --timeout\t'for each request, such as 500ms, 30s, 5m (30s)' \
                --retries\t'further tries of a request that is safe to repeat (4)' \
                --debug\t'trace requests on stderr, without secrets' \
                --color\t'auto, always or never (auto)' \
                -q\t'identifiers only, no progress' \
                --quiet\t'identifiers only, no progress' \
                -h\t'display help for command' \
                --help\t'display help for command'
            printf '%s\0' $flags
            return
        else if not set -q rest[1]; and set -q subcommands[1]
            printf '%s\0' $subcommands
            return
        else if test (count $rest) -lt (count $kinds)
            set kind $kinds[(math (count $rest) + 1)]
        else if test -n "$variadic"
            set kind $kinds[-1]
        else
            set kind none
        end
    end
    __imgctl_offer
end

complete -c imgctl -f -k -a '(__imgctl_complete | string split0)'
