# Completes the command line of imgctl in PowerShell, from 5.1 on: offers what `imgctl __complete` prints.

Register-ArgumentCompleter -Native -CommandName imgctl -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # The words before the cursor, and the one at the cursor.
    $words = @()
    $typed = ''
    foreach ($element in $commandAst.CommandElements | Select-Object -Skip 1) {
        if ($element.Extent.StartOffset -ge $cursorPosition) { break }
        $isText = $element -is [System.Management.Automation.Language.StringConstantExpressionAst] -or
            $element -is [System.Management.Automation.Language.ExpandableStringExpressionAst]
        $text = if ($isText) { $element.Value } else { $element.Extent.Text }
        if ($element.Extent.EndOffset -lt $cursorPosition) { $words += $text } else { $typed = $text }
    }

    # Older versions drop an empty argument, unless it has quotes.
    $last = if ($typed -or $PSNativeCommandArgumentPassing -in 'Standard', 'Windows') { $typed } else { '""' }
    $encoding = [Console]::OutputEncoding
    $said = @()
    try {
        [Console]::OutputEncoding = New-Object System.Text.UTF8Encoding $false
        $said = @(& imgctl __complete '--' @words $last 2>$null)
    } catch {
    } finally {
        [Console]::OutputEncoding = $encoding
    }

    # PowerShell completes files by itself if nothing is offered.
    $mode = if ($said.Count -gt 0) { $said[-1] } else { '' }
    if ($mode -in ':files', ':folders', ':packages' -and $typed -notlike '--*=*') {
        if ($mode -eq ':files') { return }
        $names = if ($mode -eq ':packages') { '\.ov[af]$' } else { '^$' }
        $found = @([System.Management.Automation.CompletionCompleters]::CompleteFilename($wordToComplete) |
            Where-Object { $_.ResultType -eq 'ProviderContainer' -or $_.ListItemText -match $names })
        return $(if ($found.Count -gt 0) { $found } else { '' })
    }
    # A comma starts another word: only what follows it is replaced.
    $kept = if ($typed.EndsWith($wordToComplete)) { $typed.Length - $wordToComplete.Length } else { 0 }
    $results = @()
    foreach ($line in $said | Select-Object -SkipLast 1) {
        $value, $description = $line.Split([char]9)
        if ($value.Length -gt $kept -and $value.StartsWith($typed, 'OrdinalIgnoreCase')) {
            $results += [System.Management.Automation.CompletionResult]::new(
                $value.Substring($kept), $value, 'ParameterValue', $(if ($description) { $description } else { $value }))
        }
    }
    # An empty text keeps PowerShell from offering files.
    if ($results.Count -eq 0) { '' } else { $results }
}
