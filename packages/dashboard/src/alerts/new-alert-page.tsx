import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import { AnchorLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { AlertForm } from './alert-form.tsx'
import { text } from './text.ts'

const route = getRouteApi('/shell/insights/alerts/new')

/** Creates an alert, of the report in the URL or one that is chosen. */
export function NewAlertPage() {
  const { report: reportId } = route.useSearch()
  const { data, error, refetch } = useQuery({
    ...queryOf('getReport', { report_id: reportId ?? '' }),
    enabled: reportId !== undefined,
  })
  const isReady = reportId === undefined || data !== undefined
  return (
    <>
      <PageHeader
        title={text.newTitle}
        description={text.newDescription}
        breadcrumb={
          <AnchorLink inherit to="/insights/alerts">
            {text.breadcrumb}
          </AnchorLink>
        }
      />
      {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !isReady ? <LoadingState lines={8} /> : null}
      {isReady ? <AlertForm key={reportId} report={data?.report} /> : null}
    </>
  )
}
