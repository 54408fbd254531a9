import { Alert, Stack, Text, Title } from '@mantine/core'
import { IconGauge } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { formatNumber } from '../ui/format.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { EmptyState } from '../ui/states.tsx'
import { Foreign, None } from '../ui/text.tsx'
import classes from './settings-table.module.css'
import { text } from './text.ts'

const REFRESH_MS = 10_000

/** The rate limits and their use. */
export function LimitsPage() {
  const { data, error, refetch } = useQuery({ ...queryOf('getLimits'), refetchInterval: REFRESH_MS })
  const perMinute = (name: string) => data?.limits.find((limit) => limit.name === name)?.per_minute ?? null
  const used: Usage[] | undefined = data && [
    {
      id: 'tracking',
      what: text.limits.usage.tracking,
      requests: data.requests.tracking,
      limit: perMinute('trackPerTenantPerMinute'),
    },
    {
      id: 'forms',
      what: text.limits.usage.forms,
      requests: data.requests.forms,
      limit: perMinute('formPerTenantPerMinute'),
    },
    ...data.requests.keys.map(({ key_id, name, requests }) => ({
      id: key_id,
      what: text.limits.usage.key(name),
      requests,
      limit: perMinute('apiPerMinute'),
    })),
  ]
  return (
    <>
      <PageHeader title={text.limits.title} description={text.limits.description} />
      <Stack gap="xl">
        {data && !data.enabled ? (
          <Alert color="yellow" icon={<IconGauge aria-hidden />} title={text.limits.off}>
            {text.limits.offExplanation}
          </Alert>
        ) : null}
        <section>
          <Title order={2} size="h4" mb="sm">
            {text.limits.usage.title}
          </Title>
          <DataTable
            label={text.limits.usage.label}
            columns={USAGE_COLUMNS}
            rows={used}
            rowKey={({ id }) => id}
            error={error}
            onRetry={refetch}
            empty={<EmptyState icon={IconGauge} title={text.limits.usage.empty} />}
          />
        </section>
        {data?.enabled ? (
          <section>
            <Title order={2} size="h4" mb="sm">
              {text.limits.current.title}
            </Title>
            <DataTable
              label={text.limits.current.title}
              columns={LIMIT_COLUMNS}
              rows={data.limits}
              rowKey={({ name }) => name}
              empty={<EmptyState icon={IconGauge} title={text.limits.current.empty} />}
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
  { id: 'what', header: text.limits.usage.what, cell: ({ what }) => <What>{what}</What> },
  {
    id: 'requests',
    header: text.limits.usage.requests,
    align: 'right',
    cell: ({ requests }) => (requests === null ? <None /> : formatNumber(requests)),
  },
  {
    id: 'limit',
    header: text.limits.usage.limit,
    align: 'right',
    visibleFrom: 'xs',
    cell: ({ limit }) => (limit === null ? <None /> : formatNumber(limit)),
  },
  {
    id: 'share',
    header: text.limits.usage.used,
    align: 'right',
    visibleFrom: 'sm',
    cell: ({ requests, limit }) =>
      requests === null || limit === null || limit === 0 ? (
        <None />
      ) : (
        text.limits.usage.percent(Math.min(100, Math.round((requests / limit) * 100)))
      ),
  },
]

const LIMIT_COLUMNS: Column<{ name: string; label: string; per_minute: number }>[] = [
  { id: 'label', header: text.limits.current.what, cell: ({ label }) => <What>{label}</What> },
  {
    id: 'per_minute',
    header: text.limits.current.perMinute,
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
