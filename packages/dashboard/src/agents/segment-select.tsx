import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { allSegmentsQuery, segmentsOf } from '../filters/all-segments.ts'
import { formatNumber } from '../ui/format.ts'
import { ErrorState } from '../ui/states.tsx'
import { text } from './text.ts'

interface SegmentSelectProps {
  label: string
  /** The id of a segment, empty for none. */
  value: string
  onChange: (segmentId: string) => void
}

/** Chooses one of the segments of contacts. */
export function SegmentSelect({ label, value, onChange }: SegmentSelectProps) {
  const { data: segments, error, refetch } = useQuery(allSegmentsQuery)
  const isListed = value === '' || segments?.has(value)
  return (
    <>
      {error ? <ErrorState error={error} onRetry={refetch} /> : null}
      <NativeSelect
        label={label}
        required
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        data={[
          { value: '', label: text.audience.chooseSegment },
          ...(isListed ? [] : [{ value, label: value }]),
          ...segmentsOf(segments, 'contacts').map(({ segment_id, name, contact_count: count }) => ({
            value: segment_id,
            label: text.audience.segmentChoice(
              name.slice(0, 80),
              count === null ? text.audience.counting : formatNumber(count),
            ),
          })),
        ]}
      />
    </>
  )
}
