import { Alert, Stack, Text, Title } from '@mantine/core'
import { IconGauge } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { limitsQuery } from '../api/limits.ts'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { formatNumber } from '../ui/format.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { EmptyState } from '../ui/states.tsx'
import { Foreign, None } from '../ui/text.tsx'
import classes from './settings-table.module.css'

const REFRESH_MS = 10_000

/** The rate limits and their use. */
export function LimitsPage() {
  const { data, error, refetch } = useQuery({ ...limitsQuery, refetchInterval: REFRESH_MS })
  const perMinute = (name: string) => data?.limits.find((limit) => limit.name === name)?.per_minute ?? null
  const used: Usage[] | undefined = data && [
    {
      id: 'tracking',
      what: 'Tracking requests, all visitors',
      requests: data.requests.tracking,
      limit: perMinute('trackPerTenantPerMinute'),
    },
    {
      id: 'forms',
      what: 'Form submissions, all visitors',
      requests: data.requests.forms,
      limit: perMinute('formPerTenantPerMinute'),
    },
    ...data.requests.keys.map(({ key_id, name, requests }) => ({
      id: key_id,
      what: `API key ${name}`,
      requests,
      limit: perMinute('apiPerMinute'),
    })),
  ]
  return (
    <>
      <PageHeader
        title="Rate limits"
        description="Requests above a limit get 429 and the time to wait. The operator of the service sets the limits."
      />
      <Stack gap="xl">
        {data && !data.enabled ? (
          <Alert color="yellow" icon={<IconGauge aria-hidden />} title="Rate limits are off">
            This service accepts as many requests as it can process.
          </Alert>
        ) : null}
        <section>
          <Title order={2} size="h4" mb="sm">
            In the last minute
          </Title>
          <DataTable
            label="Requests in the last minute"
            columns={USAGE_COLUMNS}
            rows={used}
            rowKey={({ id }) => id}
            error={error}
            onRetry={refetch}
            empty={<EmptyState icon={IconGauge} title="No usage to show" />}
          />
        </section>
        {data?.enabled ? (
          <section>
            <Title order={2} size="h4" mb="sm">
              Current limits
            </Title>
            <DataTable
              label="Current limits"
              columns={LIMIT_COLUMNS}
              rows={data.limits}
              rowKey={({ name }) => name}
              empty={<EmptyState icon={IconGauge} title="No limits" />}
            />
          </section>
        ) : null}
      </Stack>
    </>
  )
}

interface Usage {
  id: string
  what: string
  /** null if nothing is counted. */
  requests: number | null
  limit: number | null
}

const USAGE_COLUMNS: Column<Usage>[] = [
  { id: 'what', header: 'What', cell: ({ what }) => <What>{what}</What> },
  {
    id: 'requests',
    header: 'Requests',
    align: 'right',
    cell: ({ requests }) => (requests === null ? <None /> : formatNumber(requests)),
  },
  {
    id: 'limit',
    header: 'Limit',
    align: 'right',
    visibleFrom: 'xs',
    cell: ({ limit }) => (limit === null ? <None /> : formatNumber(limit)),
  },
  {
    id: 'share',
    header: 'Used',
    align: 'right',
    visibleFrom: 'sm',
    cell: ({ requests, limit }) =>
      requests === null || limit === null || limit === 0 ? (
        <None />
      ) : (
        `${Math.min(100, Math.round((requests / limit) * 100))} %`
      ),
  },
]

const LIMIT_COLUMNS: Column<{ name: string; label: string; per_minute: number }>[] = [
  { id: 'label', header: 'What', cell: ({ label }) => <What>{label}</What> },
  {
    id: 'per_minute',
    header: 'Per minute',
    align: 'right',
    cell: ({ per_minute: count }) => formatNumber(count),
  },
]

function What({ children }: { children: string }) {
  return (
    <Text size="sm" className={classes.name}>
      <Foreign max={120}>{children}</Foreign>
    </Text>
  )
}
