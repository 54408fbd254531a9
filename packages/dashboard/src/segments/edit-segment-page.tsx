import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import { AnchorLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { Foreign } from '../ui/text.tsx'
import { SegmentForm } from './segment-form.tsx'
import { text } from './text.ts'

const route = getRouteApi('/shell/segments/$segmentId/edit')

export function EditSegmentPage() {
  const { segmentId } = route.useParams()
  const { data, error, refetch } = useQuery(queryOf('getSegment', { segment_id: segmentId }))
  const segment = data?.segment
  return (
    <>
      <PageHeader
        title={text.form.editTitle}
        breadcrumb={
          <AnchorLink inherit to="/segments/$segmentId" params={{ segmentId }}>
            {segment ? <Foreign max={80}>{segment.name}</Foreign> : text.form.segment}
          </AnchorLink>
        }
      />
      {error && !segment ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !segment ? <LoadingState lines={8} /> : null}
      {segment ? <SegmentForm key={segment.segment_id} segment={segment} /> : null}
    </>
  )
}
