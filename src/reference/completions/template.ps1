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
@commands@
        }
        @{ Subcommands = @($subcommands); Flags = @($flags); Kinds = @($kinds); Variadic = $variadic }
    }

    # The kind of value that an option of a command takes; nothing where it takes none.
    function FindValue([string]$node, [string]$flag) {
        switch ("${node}:$flag", "*:$flag") {
@values@
        }
    }

    # The kind of value that a setting takes.
    function FindSetting([string]$key) {
        switch ($key) {
@settings@
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
@global@
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
