import { Group, Alert as Notice, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import type { Alert, Report } from '../api/types.ts'
import { KIND_PATHS } from '../insights/kind-paths.ts'
import { useMay } from '../session/may.ts'
import { AnchorLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { Foreign, isolated, Moment } from '../ui/text.tsx'
import { AlertForm } from './alert-form.tsx'
import { AlertState } from './alert-state.tsx'
import { text } from './text.ts'

const route = getRouteApi('/shell/insights/alerts/$alertId')
/** The first check comes in a moment. */
const NEW_MS = 2_000

/** An alert: its state, its past 90 days, and its settings. */
export function AlertPage() {
  const { alertId } = route.useParams()
  const { data, error, refetch } = useQuery({
    ...queryOf('getAlert', { alert_id: alertId }),
    refetchInterval: ({ state }) => (state.data?.alert.state === 'new' ? NEW_MS : false),
  })
  const alert = data?.alert
  const watched = useQuery({
    ...queryOf('getReport', { report_id: alert?.report_id ?? '' }),
    enabled: alert !== undefined,
  })
  const report = watched.data?.report
  const failed = [{ data, error, refetch }, watched].find((each) => each.error && !each.data)
  return (
    <>
      <PageHeader
        title={alert ? <Foreign max={120}>{alert.name}</Foreign> : text.breadcrumb}
        {...(alert ? { documentTitle: alert.name } : {})}
        breadcrumb={
          <AnchorLink inherit to="/insights/alerts">
            {text.breadcrumb}
          </AnchorLink>
        }
      />
      {failed ? <ErrorState error={failed.error} onRetry={failed.refetch} /> : null}
      {!failed && !(alert && report) ? <LoadingState lines={8} /> : null}
      {alert && report ? <Shown key={`${alert.alert_id} ${alert.updated_at}`} alert={alert} report={report} /> : null}
    </>
  )
}

function Shown({ alert, report }: { alert: Alert; report: Report }) {
  const { state, last_checked_at: checkedAt, triggered_at: triggeredAt, last_error: problem } = alert
  const mayChange = useMay('segments:write')
  return (
    <Stack gap="md">
      <Group gap="sm">
        <AlertState state={state} />
        {checkedAt ? (
          <Text size="sm" c="dimmed">
            {text.checked} <Moment at={checkedAt} />
          </Text>
        ) : null}
        {triggeredAt ? (
          <Text size="sm" c="dimmed">
            {text.fired} <Moment at={triggeredAt} />
          </Text>
        ) : null}
        <AnchorLink size="sm" to={KIND_PATHS[report.kind]} search={{ question: JSON.stringify(report.question) }}>
          {text.openReport(isolated(report.name.slice(0, 120)))}
        </AnchorLink>
      </Group>
      {problem ? (
        <Notice color="red" role="alert" title={text.failed}>
          {problem.message}
        </Notice>
      ) : null}
      <AlertForm alert={alert} report={report} isReadOnly={!mayChange} />
    </Stack>
  )
}
