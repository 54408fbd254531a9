import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { allSegmentsQuery, segmentsOf } from '../filters/all-segments.ts'
import { ErrorState } from '../ui/states.tsx'
import { Foreign } from '../ui/text.tsx'
import { text } from './text.ts'

const OF_SEGMENTS = ['segment_entered', 'segment_exited']

/** Whether an event is about a segment, so that a webhook can be limited to one. */
export function isOfSegments(event: string): boolean {
  return OF_SEGMENTS.includes(event)
}

interface SegmentFieldProps {
  /** The id of a segment; null: all of them. */
  value: string | null
  onChange: (segmentId: string | null) => void
}

/** The only segment whose entries or exits are delivered. */
export function SegmentField({ value, onChange }: SegmentFieldProps) {
  const { data, error, refetch } = useQuery(allSegmentsQuery)
  if (error && !data) return <ErrorState error={error} onRetry={refetch} />
  const segments = segmentsOf(data, 'contacts')
  return (
    <NativeSelect
      label={text.segment.label}
      value={value ?? ''}
      onChange={({ currentTarget }) => onChange(currentTarget.value === '' ? null : currentTarget.value)}
      data={[
        { value: '', label: text.segment.all },
        ...segments.map(({ segment_id, name }) => ({ value: segment_id, label: name.slice(0, 120) })),
        ...(value === null || data === undefined || data.has(value) ? [] : [{ value, label: text.segment.deleted }]),
      ]}
    />
  )
}

/** The name of the segment that a webhook is limited to. */
export function SegmentName({ segmentId }: { segmentId: string }) {
  const { data } = useQuery(allSegmentsQuery)
  return data ? <Foreign max={120}>{data.get(segmentId)?.name ?? text.segment.deleted}</Foreign> : '…'
}
