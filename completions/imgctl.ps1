# Completes the command line of imgctl in PowerShell, from 5.1 on.
# Made from the command tree by `npm run generate`: change src/reference/completions instead.

Register-ArgumentCompleter -Native -CommandName imgctl -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # What a command takes: its subcommands and flags, each before what it means, the kinds of its arguments, and
    # whether the last of them may come again.
    function FindCommand([string]$node) {
        $subcommands = $flags = $kinds = @()
        $variadic = $false
        switch ($node) {
            { $_ -cin '' } {
                $subcommands = @(
                    'login', 'log in and cache an access token'
                    'logout', 'forget the cached token and a stored password'
                    'whoami', 'show profile, service, user and token state'
                    'token', 'print a valid access token'
                    'images', 'the public image catalogue'
                    'my-images', 'list the user''s own images'
                    'sync', 'submit an image sync after an upload'
                    'sync-status', 'show or follow a sync request'
                    'inspect', 'show what is in a local OVA or OVF package'
                    'validate', 'check a local OVA or OVF package before its upload'
                    'api', 'send any authenticated request'
                    'config', 'show and change settings'
                    'profile', 'the profiles, the default one, away with one'
                    'doctor', 'check configuration, network and login, with a remedy for what is wrong'
                    'emulator', 'run the embedded service on this machine'
                    'demo', 'the whole job against a fresh embedded service'
                    'completion', 'print the completion script of a shell'
                    'help', 'show help of a command or topic'
                )
            }
            { $_ -cin 'login' } {
                $flags = @(
                    '--username', 'user name of the account'
                    '--password-stdin', 'read the password from standard input'
                    '--password-command', 'run by the shell; its first output line is the password'
                    '--store-password', 'keep the password in the system keychain'
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
            }
            { $_ -cin 'logout' } {
                $flags = @(
                    '--all', 'the tokens and stored passwords of all profiles'
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
            }
            { $_ -cin 'whoami' } {
                $flags = @(
                    '--check', 'prove the token against the service'
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
            }
            { $_ -cin 'token' } {
                $flags = @(
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
            }
            { $_ -cin 'images' } {
                $subcommands = @(
                    'list', 'list and filter images'
                    'ls', 'list and filter images'
                    'get', 'show images by id or name'
                    'help', 'display help for command'
                )
                $flags = @(
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
            }
            { $_ -cin 'images list', 'images ls' } {
                $flags = @(
                    '-f', 'eq ne lt le gt ge like in; repeatable, all must hold'
                    '--filter', 'eq ne lt le gt ge like in; repeatable, all must hold'
                    '-s', 'asc or desc; repeatable, most significant first'
                    '--sort', 'asc or desc; repeatable, most significant first'
                    '--limit', 'at most n images'
                    '--fail-empty', 'exit 5 when nothing matches'
                    '--meta', 'json and yaml: {"data": [...], "meta": {...}}'
                    '--columns', 'fields to show, in this order, or all: id, name, path, label, folder, data_store, public, created_on, updated_on'
                    '--no-header', 'tables, csv and tsv without the header line'
                    '--time', 'time stamps: wire, iso, local, age (tables local, else wire)'
                    '--page', 'exactly that page of the service'
                    '--per-page', 'page size, 1 to 100 (100)'
                    '--urls', 'the URL of each image, one a line'
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
                $kinds = @('none')
                $variadic = $true
            }
            { $_ -cin 'images get' } {
                $flags = @(
                    '--columns', 'fields to show, in this order, or all: id, name, path, label, folder, data_store, public, created_on, updated_on'
                    '--no-header', 'tables, csv and tsv without the header line'
                    '--time', 'time stamps: wire, iso, local, age (tables local, else wire)'
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
                $kinds = @('ask image-names')
                $variadic = $true
            }
            { $_ -cin 'images help' } {
                $kinds = @('none')
            }
            { $_ -cin 'my-images' } {
                $flags = @(
                    '-f', 'eq ne lt le gt ge like in; repeatable, all must hold'
                    '--filter', 'eq ne lt le gt ge like in; repeatable, all must hold'
                    '-s', 'asc or desc; repeatable, most significant first'
                    '--sort', 'asc or desc; repeatable, most significant first'
                    '--limit', 'at most n images'
                    '--fail-empty', 'exit 5 when nothing matches'
                    '--meta', 'json and yaml: {"data": [...], "meta": {...}}'
                    '--columns', 'fields to show, in this order, or all: id, name, path, label, folder, data_store, public, created_on, updated_on'
                    '--no-header', 'tables, csv and tsv without the header line'
                    '--time', 'time stamps: wire, iso, local, age (tables local, else wire)'
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
                $kinds = @('none')
                $variadic = $true
            }
            { $_ -cin 'sync' } {
                $flags = @(
                    '--wait', 'follow it to its end; exit 1 when it fails'
                    '--poll-interval', 'fixed time between looks (2s growing to 15s)'
                    '--wait-timeout', 'give up waiting after that, exit 7 (1h)'
                    '--dry-run', 'show the request, prove the token, list the images; change nothing'
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
            }
            { $_ -cin 'sync-status' } {
                $flags = @(
                    '--wait', 'follow it to its end; exit 1 when it fails'
                    '--poll-interval', 'fixed time between looks (2s growing to 15s)'
                    '--wait-timeout', 'give up waiting after that, exit 7 (1h)'
                    '--list', 'those submitted from this machine with this profile, newest first'
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
                $kinds = @('ask sync-ids')
            }
            { $_ -cin 'inspect' } {
                $flags = @(
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
                $kinds = @('files')
                $variadic = $true
            }
            { $_ -cin 'validate' } {
                $flags = @(
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
                $kinds = @('files')
                $variadic = $true
            }
            { $_ -cin 'api' } {
                $flags = @(
                    '-X', 'HTTP method (GET)'
                    '--method', 'HTTP method (GET)'
                    '-f', 'query parameter; repeatable'
                    '--field', 'query parameter; repeatable'
                    '-i', 'show status and headers, too'
                    '--include', 'show status and headers, too'
                    '--paginate', 'follow meta.pages.next_url and print every page'
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
                $kinds = @('words /v2 /v2/image /v2/user/image/vm /v2/request/image_sync/')
            }
            { $_ -cin 'config' } {
                $subcommands = @(
                    'list', 'Show every setting, its value and where that comes from.'
                    'get', 'Print one value.'
                    'set', 'Keep a value in the profile.'
                    'unset', 'Take a value out of the profile.'
                    'path', 'Print where the settings are kept.'
                    'help', 'display help for command'
                )
                $flags = @(
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
            }
            { $_ -cin 'config list' } {
                $flags = @(
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
            }
            { $_ -cin 'config get' } {
                $flags = @(
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
                $kinds = @('words base-url username password-command output timeout retries concurrency columns.images columns.my-images auth-scheme allow-http ca-file time')
            }
            { $_ -cin 'config set' } {
                $flags = @(
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
                $kinds = @('words base-url username password-command output timeout retries concurrency columns.images columns.my-images auth-scheme allow-http ca-file time', 'setting')
            }
            { $_ -cin 'config unset' } {
                $flags = @(
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
                $kinds = @('words base-url username password-command output timeout retries concurrency columns.images columns.my-images auth-scheme allow-http ca-file time')
            }
            { $_ -cin 'config path' } {
                $flags = @(
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
            }
            { $_ -cin 'config help' } {
                $kinds = @('none')
            }
            { $_ -cin 'profile' } {
                $subcommands = @(
                    'list', 'Show the profiles, and which one is the default.'
                    'use', 'Make a profile the default.'
                    'delete', 'Forget a profile: its settings, its tokens and its stored password.'
                    'help', 'display help for command'
                )
                $flags = @(
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
            }
            { $_ -cin 'profile list' } {
                $flags = @(
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
            }
            { $_ -cin 'profile use' } {
                $flags = @(
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
                $kinds = @('ask profiles')
            }
            { $_ -cin 'profile delete' } {
                $flags = @(
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
                $kinds = @('ask profiles')
            }
            { $_ -cin 'profile help' } {
                $kinds = @('none')
            }
            { $_ -cin 'doctor' } {
                $flags = @(
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
            }
            { $_ -cin 'emulator' } {
                $flags = @(
                    '--host', 'address to listen on (127.0.0.1)'
                    '--port', 'port to listen on; 0 lets the system choose (8080)'
                    '--images', 'size of the public catalogue (250)'
                    '--uploads', 'folder with one sub-folder for each user, read by a sync'
                    '--user', 'who may log in; repeatable (demo:demo)'
                    '--denied-user', 'has an account, but no permission; repeatable'
                    '--token-ttl', 'lifetime of a token (24h)'
                    '--token-limit', 'token requests in a window (5)'
                    '--token-window', 'length of that window (1m)'
                    '--latency', 'wait before each answer'
                    '--sync-delay', 'from the submit of a sync to its end (2s)'
                    '--fault', 'misbehave, such as ''GET /v2/image=503,first=2''; repeatable'
                    '--seed', 'chooses the catalogue (1)'
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
            }
            { $_ -cin 'demo' } {
                $flags = @(
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
            }
            { $_ -cin 'completion' } {
                $flags = @(
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
                $kinds = @('words bash zsh fish powershell')
            }
            { $_ -cin 'help' } {
                $flags = @(
                    '-h', 'display help for command'
                    '--help', 'display help for command'
                )
                $kinds = @('help filters output environment exit-codes')
                $variadic = $true
            }
        }
        @{ Subcommands = @($subcommands); Flags = @($flags); Kinds = @($kinds); Variadic = $variadic }
    }

    # The kind of value that an option of a command takes; nothing where it takes none.
    function FindValue([string]$node, [string]$flag) {
        switch ("${node}:$flag", "*:$flag") {
            { $_ -cin 'login:--username' } { return 'none' }
            { $_ -cin 'login:--password-command' } { return 'none' }
            { $_ -cin 'images list:-f', 'images list:--filter', 'images ls:-f', 'images ls:--filter' } { return 'steps id name path label folder data_store public created_on updated_on : eq, ne, lt, le, gt, ge, like, in,' }
            { $_ -cin 'images list:-s', 'images list:--sort', 'images ls:-s', 'images ls:--sort' } { return 'steps id name path label folder data_store public created_on updated_on : asc desc' }
            { $_ -cin 'images list:--limit', 'images ls:--limit' } { return 'none' }
            { $_ -cin 'images list:--columns', 'images ls:--columns' } { return 'list id name path label folder data_store public created_on updated_on all' }
            { $_ -cin 'images list:--time', 'images ls:--time' } { return 'words wire iso local age' }
            { $_ -cin 'images list:--page', 'images ls:--page' } { return 'none' }
            { $_ -cin 'images list:--per-page', 'images ls:--per-page' } { return 'none' }
            { $_ -cin 'images get:--columns' } { return 'list id name path label folder data_store public created_on updated_on all' }
            { $_ -cin 'images get:--time' } { return 'words wire iso local age' }
            { $_ -cin 'my-images:-f', 'my-images:--filter' } { return 'steps id name path label folder data_store public created_on updated_on : eq, ne, lt, le, gt, ge, like, in,' }
            { $_ -cin 'my-images:-s', 'my-images:--sort' } { return 'steps id name path label folder data_store public created_on updated_on : asc desc' }
            { $_ -cin 'my-images:--limit' } { return 'none' }
            { $_ -cin 'my-images:--columns' } { return 'list id name path label folder data_store public created_on updated_on all' }
            { $_ -cin 'my-images:--time' } { return 'words wire iso local age' }
            { $_ -cin 'sync:--poll-interval' } { return 'none' }
            { $_ -cin 'sync:--wait-timeout' } { return 'none' }
            { $_ -cin 'sync-status:--poll-interval' } { return 'none' }
            { $_ -cin 'sync-status:--wait-timeout' } { return 'none' }
            { $_ -cin 'api:-X', 'api:--method' } { return 'words GET HEAD OPTIONS POST PUT PATCH DELETE' }
            { $_ -cin 'api:-f', 'api:--field' } { return 'none' }
            { $_ -cin 'emulator:--host' } { return 'none' }
            { $_ -cin 'emulator:--port' } { return 'none' }
            { $_ -cin 'emulator:--images' } { return 'none' }
            { $_ -cin 'emulator:--uploads' } { return 'directories' }
            { $_ -cin 'emulator:--user' } { return 'none' }
            { $_ -cin 'emulator:--denied-user' } { return 'none' }
            { $_ -cin 'emulator:--token-ttl' } { return 'none' }
            { $_ -cin 'emulator:--token-limit' } { return 'none' }
            { $_ -cin 'emulator:--token-window' } { return 'none' }
            { $_ -cin 'emulator:--latency' } { return 'none' }
            { $_ -cin 'emulator:--sync-delay' } { return 'none' }
            { $_ -cin 'emulator:--fault' } { return 'none' }
            { $_ -cin 'emulator:--seed' } { return 'none' }
            { $_ -cin '*:--profile' } { return 'ask profiles' }
            { $_ -cin '*:--base-url' } { return 'none' }
            { $_ -cin '*:-o', '*:--output' } { return 'words table json ndjson yaml csv tsv' }
            { $_ -cin '*:--timeout' } { return 'none' }
            { $_ -cin '*:--retries' } { return 'none' }
            { $_ -cin '*:--color' } { return 'words auto always never' }
        }
    }

    # The kind of value that a setting takes.
    function FindSetting([string]$key) {
        switch ($key) {
            { $_ -cin 'columns.images' } { return 'list id name path label folder data_store public created_on updated_on all' }
            { $_ -cin 'columns.my-images' } { return 'list id name path label folder data_store public created_on updated_on all' }
            { $_ -cin 'ca-file' } { return 'files' }
            { $_ -cin 'output' } { return 'words table json ndjson yaml csv tsv' }
            { $_ -cin 'auth-scheme' } { return 'words bearer basic' }
            { $_ -cin 'allow-http' } { return 'words true false' }
            { $_ -cin 'time' } { return 'words wire iso local age' }
        }
        'none'
    }

    # The words at even places.
    function WordsOf([object[]]$pairs) {
        for ($index = 0; $index -lt $pairs.Count; $index += 2) { $pairs[$index] }
    }

    # A text as one argument, nothing in it expanded, with no control character in it.
    function Quote([string]$text) {
        if ($text -cmatch '^[A-Za-z0-9_./][A-Za-z0-9_./+=:-]*$') { return $text }
        if ($text -notmatch '[\x00-\x1f\x7f-\x9f]') {
            return "'" + ($text -replace "['\u2018-\u201b]", '$0$0') + "'"
        }
        $escaped = $text -replace '[`"$\u201c-\u201e]', '`$0'
        $code = { param($match) '$([char]{0})' -f [int]$match.Value[0] }
        '"' + [regex]::Replace($escaped, '[\x00-\x1f\x7f-\x9f]', $code) + '"'
    }

    # What imgctl knows of, separated by NUL, as names may hold line breaks.
    function Ask([string]$kind, [string[]]$scope, [string]$prefix) {
        $encoding = [Console]::OutputEncoding
        try {
            [Console]::OutputEncoding = New-Object System.Text.UTF8Encoding $false
            $said = & imgctl __complete $kind @scope -- $prefix 2>$null
            ($said -join "`n").Split([char]0) | Where-Object { $_ -ne '' }
        } catch {
        } finally {
            [Console]::OutputEncoding = $encoding
        }
    }

    # The words before the cursor, and the one that it stands at.
    $words = @()
    $typed = ''
    foreach ($element in $commandAst.CommandElements | Select-Object -Skip 1) {
        if ($element.Extent.StartOffset -ge $cursorPosition) { break }
        $isText = $element -is [System.Management.Automation.Language.StringConstantExpressionAst] -or
            $element -is [System.Management.Automation.Language.ExpandableStringExpressionAst]
        $text = if ($isText) { $element.Value } else { $element.Extent.Text }
        if ($element.Extent.EndOffset -lt $cursorPosition) { $words += $text } else { $typed = $text }
    }

    # The command, its arguments, an option that waits for its value, whether -- has ended the options, and whose
    # values are wanted.
    $node = ''
    $rest = @()
    $pending = ''
    $ended = $false
    $scope = @()
    foreach ($word in $words) {
        if ($pending) {
            if ($pending -cin '--profile', '--base-url') { $scope += "$pending=$word" }
            $pending = ''
        } elseif ($ended) {
            $rest += $word
        } elseif ($word -ceq '--') {
            $ended = $true
        } elseif ($word -cmatch '^--(profile|base-url)=') {
            $scope += $word
        } elseif ($word -cmatch '^--[^=]+$') {
            if (FindValue $node $word) { $pending = $word }
        } elseif ($word -cmatch '^-[^-]') {
            for ($index = 1; $index -lt $word.Length; $index++) {
                if (-not (FindValue $node "-$($word[$index])")) { continue }
                if ($index -eq $word.Length - 1) { $pending = "-$($word[$index])" }
                break
            }
        } elseif ($word -cnotmatch '^--') {
            if ($rest.Count -eq 0 -and $word -cin (WordsOf (FindCommand $node).Subcommands)) {
                $node = "$node $word".Trim()
            } else {
                $rest += $word
            }
        }
    }

    # What is wanted, as pairs of a word and what it means, or as the kind of a value that comes after $lead.
    $lead = ''
    $kind = 'none'
    $pairs = @()
    if ($pending) {
        $kind = FindValue $node $pending
    } elseif (-not $ended -and $typed -cmatch '^(--[^=]+)=' -and (FindValue $node $Matches[1])) {
        $lead = $Matches[0]
        $kind = FindValue $node $Matches[1]
    } elseif (-not $ended -and $typed -cmatch '^-[^-](?=.)' -and (FindValue $node $Matches[0])) {
        $lead = $Matches[0]
        $kind = FindValue $node $Matches[0]
    } else {
        $command = FindCommand $node
        if (-not $ended -and $typed.StartsWith('-')) {
            $pairs = $command.Flags + @(
                    '-V', 'print the version'
                    '--version', 'print the version'
                    '--profile', 'settings and token of that name (default)'
                    '--base-url', 'the service'
                    '-o', 'table, json, ndjson, yaml, csv or tsv (table)'
                    '--output', 'table, json, ndjson, yaml, csv or tsv (table)'
                    '--json', 'the same as -o json'
                    '--timeout', 'for each request, such as 500ms, 30s, 5m (30s)'
                    '--retries', 'further tries of a request that is safe to repeat (4)'
                    '--debug', 'trace requests on stderr, without secrets'
                    '--color', 'auto, always or never (auto)'
                    '-q', 'identifiers only, no progress'
                    '--quiet', 'identifiers only, no progress'
                    '-h', 'display help for command'
                    '--help', 'display help for command'
            )
        } elseif ($rest.Count -eq 0 -and $command.Subcommands.Count -gt 0) {
            $pairs = $command.Subcommands
        } elseif ($rest.Count -lt $command.Kinds.Count) {
            $kind = $command.Kinds[$rest.Count]
        } elseif ($command.Variadic) {
            $kind = $command.Kinds[-1]
        }
    }
    if ($kind -ceq 'setting') { $kind = FindSetting $rest[-1] }

    # What the value can be, all of it as it would stand on the line.
    $value = $typed.Substring($lead.Length)
    $name, $choices = $kind -split ' '
    $choices = @($choices)
    $found = @()
    $isName = $false
    switch ($name) {
        'words' { $found = $choices }
        'list' {
            $chosen = $value -replace '[^,]*$', ''
            $left = $choices | Where-Object { $_ -cnotin $chosen.Split(',') }
            if ($chosen) { $left = $left | Where-Object { $_ -cne 'all' } }
            $found = $left | ForEach-Object { "$chosen$_" }
        }
        'steps' {
            $middle = [array]::IndexOf($choices, ':')
            $first = $choices[0..($middle - 1)]
            $field = $value.Split(',')[0]
            if (-not $value.Contains(',')) {
                $found = $first | ForEach-Object { "$_," }
            } elseif ($field -cin $first) {
                $found = $choices[($middle + 1)..($choices.Count - 1)] | ForEach-Object { "$field,$_" }
            }
        }
        'ask' {
            $isName = $true
            # Without -- before it such a name would be an option.
            $found = Ask $choices[0] $scope $value | Where-Object { $ended -or -not $_.StartsWith('-') }
        }
        'help' {
            $pairs = (FindCommand "$rest").Subcommands
            if ($rest.Count -eq 0) { $found = $choices }
        }
        # PowerShell completes files by itself where nothing is said.
        { $_ -cin 'files', 'directories' -and -not $lead } { return }
    }

    # PowerShell takes a comma for the start of another word, and leaves alone what stands before it.
    $bare = $wordToComplete.Trim('''"')
    $settled = if ($typed.EndsWith($bare)) { $typed.Length - $bare.Length } else { 0 }
    foreach ($text in $found) { $pairs += "$lead$text", "$lead$text" }
    $results = @()
    for ($index = 0; $index -lt $pairs.Count; $index += 2) {
        $text, $meaning = $pairs[$index, ($index + 1)]
        if (-not $text.StartsWith($typed, [StringComparison]::OrdinalIgnoreCase)) { continue }
        $completion = $text.Substring($settled)
        if (-not $completion) { continue }
        if ($isName) { $completion = Quote $completion }
        $shown = $text -replace '[\x00-\x1f\x7f-\x9f]', '?'
        $meaning = $meaning -replace '[\x00-\x1f\x7f-\x9f]', '?'
        $results += [System.Management.Automation.CompletionResult]::new($completion, $shown, 'ParameterValue', $meaning)
    }
    # An empty text keeps PowerShell from offering files.
    if ($results.Count -eq 0) { '' } else { $results }
}
