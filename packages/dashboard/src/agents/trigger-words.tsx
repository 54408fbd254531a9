import { useQuery } from '@tanstack/react-query'
import type { AgentTrigger } from '../api/types.ts'
import { allSegmentsQuery } from '../filters/all-segments.ts'
import { filterOfWhere } from '../filters/draft-filter.ts'
import { useFilterNames } from '../filters/fields.ts'
import { eventFilterWords } from '../filters/words.ts'
import { useMay } from '../session/may.ts'
import { eventLabel } from '../ui/event-words.ts'
import { formatNumber } from '../ui/format.ts'
import { propertyLabel } from '../ui/property-value.ts'
import { Foreign } from '../ui/text.tsx'
import { text } from './text.ts'

/** A trigger in words: "Page view, where URL path starts with “/pricing”". */
export function TriggerWords({ trigger }: { trigger: AgentTrigger }) {
  const { event, where, segment_entered: segmentId, score } = trigger
  if (score !== undefined)
    return <Foreign max={200}>{text.triggers.rises(propertyLabel(score.name), formatNumber(score.gte))}</Foreign>
  if (segmentId !== undefined) return <SegmentEntered segmentId={segmentId} />
  if (where === undefined) return <Foreign max={200}>{eventLabel(event ?? '')}</Foreign>
  return <EventWhere event={event ?? ''} where={where} />
}

function EventWhere({ event, where }: { event: string; where: NonNullable<AgentTrigger['where']> }) {
  const filter = filterOfWhere(where)
  const names = useFilterNames('events', [filter])
  return <Foreign max={600}>{text.triggers.eventWhere(eventLabel(event), eventFilterWords(filter, names))}</Foreign>
}

function SegmentEntered({ segmentId }: { segmentId: string }) {
  const { data } = useQuery({ ...allSegmentsQuery, enabled: useMay('segments:read') })
  const name = data === undefined ? '…' : (data.get(segmentId)?.name ?? text.facts.deletedSegment)
  return <Foreign max={200}>{text.triggers.entered(name)}</Foreign>
}
