import { Alert, Badge, Button, Card, Group, Stack, Table, Text, Title } from '@mantine/core'
import { IconRefresh, IconWorld } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import {
  addDomain,
  type Check,
  checkDomain,
  type Domain,
  domainsQuery,
  refreshDomains,
  removeDomain,
} from '../api/domains.ts'
import { useIsAtLeast } from '../app/may.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { CreateDialog } from '../ui/create-dialog.tsx'
import { formatDay } from '../ui/format.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { Pager } from '../ui/pager.tsx'
import { EmptyState, ErrorState, LoadingState, messageOf } from '../ui/states.tsx'
import { Foreign } from '../ui/text.tsx'
import { DOMAINS_LENGTH } from './page-lengths.ts'

const route = getRouteApi('/shell/settings/domains')

/** The tenant's domains, each with the DNS record that proves ownership. */
export function DomainsPage() {
  const queryClient = useQueryClient()
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error, refetch } = useQuery(domainsQuery({ page, limit: DOMAINS_LENGTH }))
  const total = data?.pagination.total_items ?? 0
  const isAdmin = useIsAtLeast('admin')
  const create = isAdmin ? (
    <CreateDialog
      title="Add a domain"
      fields={[{ name: 'domain', label: 'Domain, such as example.com', required: true }]}
      onCreate={async ({ domain = '' }) => {
        await addDomain(domain)
        await refreshDomains(queryClient)
      }}
    />
  ) : null
  return (
    <>
      <PageHeader
        title="Domains"
        description="Events are accepted from pages of a verified domain and its subdomains. Nobody else can verify it."
        actions={create}
      />
      {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !data ? <LoadingState label="Loading domains" /> : null}
      {data && total === 0 ? (
        <Card>
          <EmptyState icon={IconWorld} title="No domains yet" action={create}>
            Add your site's domain and prove with a DNS record that you own it.
          </EmptyState>
        </Card>
      ) : null}
      <Stack gap="md">
        {data?.domains.map((domain) => (
          <DomainCard key={domain.domain_id} domain={domain} isAdmin={isAdmin} />
        ))}
      </Stack>
      {total > DOMAINS_LENGTH ? (
        <Pager
          label="Domains"
          page={page}
          limit={DOMAINS_LENGTH}
          total={total}
          onPage={(next) => navigate({ search: next === 1 ? {} : { page: next } })}
        />
      ) : null}
    </>
  )
}

function DomainCard({ domain, isAdmin }: { domain: Domain; isAdmin: boolean }) {
  const { domain_id: id, domain: name, verified_at: verifiedAt } = domain
  const queryClient = useQueryClient()
  const checking = useMutation({ mutationFn: () => checkDomain(id), onSuccess: () => refreshDomains(queryClient) })
  const isVerified = verifiedAt !== null
  const remove = async () => {
    await removeDomain(id)
    await refreshDomains(queryClient)
  }
  return (
    <Card component="section" aria-label={name}>
      <Group justify="space-between" gap="sm">
        <Group gap="xs" miw={0}>
          <Title order={2} size="h4" style={{ overflowWrap: 'anywhere' }}>
            <Foreign max={253}>{name}</Foreign>
          </Title>
          {isVerified ? <Badge color="green">verified</Badge> : <Badge color="yellow">not verified</Badge>}
        </Group>
        {isAdmin ? (
          <Group gap="xs">
            <Button
              variant={isVerified ? 'default' : 'filled'}
              size="xs"
              leftSection={<IconRefresh size={14} aria-hidden />}
              loading={checking.isPending}
              onClick={() => checking.mutate()}
            >
              Check the record
            </Button>
            <ConfirmButton
              size="xs"
              title={`Remove ${name}?`}
              explanation="Events from its pages will be rejected. Recorded events are kept."
              confirmLabel="Remove domain"
              onConfirm={remove}
            >
              Remove
            </ConfirmButton>
          </Group>
        ) : null}
      </Group>
      <Text size="sm" c="dimmed" mt={4}>
        {isVerified
          ? `Verified on ${formatDay(verifiedAt)}. Keep the DNS record.`
          : 'Add this record to the DNS of the domain, then check it. A new record can take up to an hour to appear.'}
      </Text>
      {isVerified ? null : <TxtRecord domain={domain} />}
      {checking.isError ? (
        <Alert color="red" role="alert" mt="sm">
          {messageOf(checking.error)}
        </Alert>
      ) : null}
      {checking.data ? <CheckResult check={checking.data.check} /> : null}
    </Card>
  )
}

function TxtRecord({ domain: { txt_name: name, txt_value: value } }: { domain: Domain }) {
  const rows = [
    ['Type', 'TXT', null],
    ['Name', name, 'record name'],
    ['Value', value, 'record value'],
  ] as const
  return (
    <Table withRowBorders={false} verticalSpacing={4} horizontalSpacing={0} mt="sm" layout="fixed">
      <Table.Tbody>
        {rows.map(([label, content, copied]) => (
          <Table.Tr key={label}>
            <Table.Th w={64} fw={400} c="dimmed" scope="row">
              {label}
            </Table.Th>
            <Table.Td>
              <Group gap={6} wrap="nowrap">
                <Text ff="monospace" size="sm" style={{ overflowWrap: 'anywhere' }}>
                  {content}
                </Text>
                {copied === null ? null : <CopyButton value={content} label={copied} />}
              </Group>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

const PROBLEMS = {
  no_record: 'No TXT record under this name yet. If you have just added it, try again later.',
  other_value: 'There is a TXT record under this name, but with another value:',
  dns_unavailable: 'DNS did not respond. Try again later.',
} as const

function CheckResult({ check: { verified, problem, found } }: { check: Check }) {
  if (verified || problem === null) {
    return (
      <Alert color="green" role="status" mt="sm">
        The record is there: the domain is yours.
      </Alert>
    )
  }
  return (
    <Alert color="yellow" role="status" mt="sm">
      {PROBLEMS[problem]}
      {problem === 'other_value' ? (
        <Stack component="ul" gap={2} mb={0} mt={6} pl="md">
          {[...new Set(found)].map((value) => (
            <Text component="li" key={value} ff="monospace" size="sm" style={{ overflowWrap: 'anywhere' }}>
              <Foreign>{value}</Foreign>
            </Text>
          ))}
        </Stack>
      ) : null}
    </Alert>
  )
}
