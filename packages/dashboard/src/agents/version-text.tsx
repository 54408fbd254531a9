import { Box, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import type { PlaybookVersion } from '../api/types.ts'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { type DiffLine, diffLines } from './line-diff.ts'
import { text as texts } from './text.ts'
import classes from './version-text.module.css'

const text = texts.outcomes
/** Lines around a change that are shown. */
const CONTEXT = 2

interface VersionTextProps {
  agentId: string
  version: number
  /** Its predecessor, to be compared with; null shows the whole text. */
  before: number | null
}

/** What a version of the playbook says, or what it changed. */
export function VersionText({ agentId, version, before }: VersionTextProps) {
  const shown = useQuery(queryOf('getPlaybookVersion', { agent_id: agentId, version: String(version) }))
  const former = useQuery({
    ...queryOf('getPlaybookVersion', { agent_id: agentId, version: String(before ?? version) }),
    enabled: before !== null,
  })
  const failed = shown.error ?? (before === null ? null : former.error)
  if (failed) return <ErrorState error={failed} onRetry={() => Promise.all([shown.refetch(), former.refetch()])} />
  if (!shown.data || (before !== null && !former.data)) return <LoadingState lines={4} />
  const now = wholeText(shown.data.version)
  const lines =
    before === null || !former.data
      ? now.split('\n').map((line): DiffLine => ({ kind: 'same', line }))
      : diffLines(wholeText(former.data.version), now)
  if (before !== null && lines.every(({ kind }) => kind === 'same')) {
    return (
      <Text size="sm" c="dimmed">
        {text.noChange}
      </Text>
    )
  }
  const parts = before === null ? lines : withContext(lines)
  return (
    <Box className={classes.text} role="region" aria-label={text.changeLabel(version)} tabIndex={0} dir="auto">
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a version never change
        <Line key={index} part={part} />
      ))}
    </Box>
  )
}

function Line({ part }: { part: DiffLine | { skipped: number } }) {
  if ('skipped' in part) return <div className={classes.skipped}>{text.unchanged(part.skipped)}</div>
  if (part.kind === 'removed') return <del className={classes.removed}>{part.line || ' '}</del>
  if (part.kind === 'added') return <ins className={classes.added}>{part.line || ' '}</ins>
  return <div>{part.line || ' '}</div>
}

/** The changed lines with a few around them; how many are the same instead of the others. */
function withContext(lines: readonly DiffLine[]): (DiffLine | { skipped: number })[] {
  const isNear = lines.map((_, index) =>
    lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ kind }) => kind !== 'same'),
  )
  const parts: (DiffLine | { skipped: number })[] = []
  for (const [index, line] of lines.entries()) {
    const last = parts.at(-1)
    if (isNear[index]) parts.push(line)
    else if (last && 'skipped' in last) last.skipped++
    else parts.push({ skipped: 1 })
  }
  return parts
}

/** All that a version says, as one text. */
function wholeText({ playbook_template: template, instructions, playbook }: PlaybookVersion): string {
  const parts = (['variables', 'messages', 'config'] as const).flatMap((name) => {
    const value = playbook[name]
    return value === undefined ? [] : [[`${text.part[name]}:`, ...readable(value)].join('\n')]
  })
  const named = template === null ? [] : [text.template(template)]
  return [...named, ...(instructions === null ? [] : [instructions]), ...parts].join('\n\n')
}

/** The lines of a value, with texts as they are. */
function readable(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return String(value).split('\n')
  return Object.entries(value).flatMap(([name, each]) => {
    const [first = '', ...further] = readable(each)
    const isOneLine = further.length === 0 && (typeof each !== 'object' || each === null)
    return isOneLine ? [`  ${name}: ${first}`] : [`  ${name}:`, ...[first, ...further].map((line) => `  ${line}`)]
  })
}
