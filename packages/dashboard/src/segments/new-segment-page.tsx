import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import { AnchorLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { ErrorState } from '../ui/states.tsx'
import { SegmentForm } from './segment-form.tsx'
import { text } from './text.ts'

const route = getRouteApi('/shell/segments/new')

/** Creates a segment, from nothing or as a copy of another. */
export function NewSegmentPage() {
  const { copy } = route.useSearch()
  const { data, error, refetch } = useQuery({
    ...queryOf('getSegment', { segment_id: copy ?? '' }),
    enabled: copy !== undefined,
  })
  const copyOf = data?.segment
  const isReady = copy === undefined || copyOf !== undefined
  return (
    <>
      <PageHeader
        title={text.form.newTitle}
        description={text.form.newDescription}
        breadcrumb={
          <AnchorLink inherit to="/segments">
            {text.form.breadcrumb}
          </AnchorLink>
        }
      />
      {error && !copyOf ? <ErrorState error={error} onRetry={refetch} /> : null}
      {isReady ? <SegmentForm key={copy} copyOf={copyOf} /> : null}
    </>
  )
}
