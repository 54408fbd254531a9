import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { allSegmentsQuery, segmentsOf } from '../filters/all-segments.ts'
import { useMay } from '../session/may.ts'
import { ErrorState } from '../ui/states.tsx'
import type { SharedQuestion } from './question.ts'
import { text } from './text.ts'

const words = text.question.people
/** A filter that a link has, and that is not just one segment. */
const OTHER = 'other'

type People = SharedQuestion['people']

interface PeopleFieldProps {
  value: People
  onChange: (people: People) => void
}

/** Whose events count: everybody's, or those of the contacts in a segment. */
export function PeopleField({ value, onChange }: PeopleFieldProps) {
  const mayRead = [useMay('contacts:read'), useMay('segments:read')].every(Boolean)
  const { data, error, refetch } = useQuery({ ...allSegmentsQuery, enabled: mayRead })
  if (!mayRead) return null
  if (error && !data) return <ErrorState error={error} onRetry={refetch} />
  const chosen = value === undefined ? '' : (segmentIn(value) ?? OTHER)
  const isKnown = chosen === '' || (chosen !== OTHER && data?.has(chosen) !== false)
  return (
    <NativeSelect
      label={words.label}
      value={chosen}
      onChange={({ currentTarget }) => onChange(filterOf(currentTarget.value, value))}
      data={[
        { value: '', label: words.everyone },
        ...segmentsOf(data, 'contacts').map(({ segment_id, name }) => ({
          value: segment_id,
          label: words.inSegment(name.slice(0, 120)),
        })),
        ...(isKnown ? [] : [{ value: chosen, label: words.other }]),
      ]}
    />
  )
}

/** The id of the only segment that a filter names, if it says nothing else. */
function segmentIn(people: People): string | undefined {
  const { conditions = [] } = (people ?? {}) as {
    conditions?: { property?: string; operator?: string; value?: unknown }[]
  }
  const [only, ...others] = conditions
  const ids = [only?.value].flat()
  if (others.length > 0 || only?.property !== 'segment' || only.operator !== 'in' || ids.length !== 1) return undefined
  return String(ids[0])
}

function filterOf(chosen: string, before: People): People {
  if (chosen === OTHER) return before
  if (chosen === '') return undefined
  return { match: 'all', conditions: [{ property: 'segment', operator: 'in', value: [chosen] }] }
}
