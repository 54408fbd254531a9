import { Alert, Badge, Button, Card, Group, Stack, Text, Title } from '@mantine/core'
import { IconRefresh, IconWorld } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf, useOperation } from '../api/operation.ts'
import type { Domain } from '../api/types.ts'
import { useIsAtLeast } from '../session/may.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { CreateDialog } from '../ui/create-dialog.tsx'
import { formatDay } from '../ui/format.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { Pager } from '../ui/pager.tsx'
import { hostOf } from '../ui/readable-address.ts'
import { SettingsPart } from '../ui/settings-part.tsx'
import { EmptyState, ErrorState, LoadingState, messageOf } from '../ui/states.tsx'
import { Foreign } from '../ui/text.tsx'
import { CopyableValues } from './copyable-values.tsx'
import { CheckResult, DomainProof } from './domain-proof.tsx'
import { text } from './domains-text.ts'

/** Domains per page. */
const DOMAINS_LENGTH = 20

const route = getRouteApi('/shell/settings/domains')

/** The workspace's domains, each with the ways to prove ownership, and where their forms go. */
export function DomainsPage() {
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error, refetch } = useQuery(queryOf('listDomains', { page, limit: DOMAINS_LENGTH }))
  const total = data?.pagination.total_items ?? 0
  const isAdmin = useIsAtLeast('admin')
  const adding = useOperation('addDomain')
  const create = isAdmin ? (
    <CreateDialog
      title={text.add.title}
      fields={[{ name: 'domain', label: text.add.label, required: true }]}
      onCreate={({ domain = '' }) => adding.mutateAsync({ domain: hostOf(domain) })}
    />
  ) : null
  return (
    <>
      <PageHeader title={text.title} description={text.description} actions={create} />
      {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !data ? <LoadingState label={text.loading} /> : null}
      <Stack gap="md">
        {data && total === 0 ? (
          <Card>
            <EmptyState icon={IconWorld} title={text.empty.title} action={create}>
              {text.empty.explanation}
            </EmptyState>
          </Card>
        ) : null}
        {data?.domains.map((domain) => (
          <DomainCard key={domain.domain_id} domain={domain} isAdmin={isAdmin} />
        ))}
        {total > DOMAINS_LENGTH ? (
          <Pager
            label={text.pages}
            page={page}
            limit={DOMAINS_LENGTH}
            total={total}
            onPage={(next) => navigate({ search: next === 1 ? {} : { page: next } })}
          />
        ) : null}
        {data ? <Forms /> : null}
      </Stack>
    </>
  )
}

function DomainCard({ domain, isAdmin }: { domain: Domain; isAdmin: boolean }) {
  const { domain_id: id, domain: name, verified_at: verifiedAt, verified_by: verifiedBy } = domain
  const verifying = useOperation('verifyDomain')
  const removing = useOperation('removeDomain')
  const isVerified = verifiedAt !== null && verifiedBy !== null
  return (
    <Card component="section" aria-label={name}>
      <Group justify="space-between" gap="sm">
        <Group gap="xs" miw={0}>
          <Title order={2} size="h4" style={{ overflowWrap: 'anywhere' }}>
            <Foreign max={253}>{name}</Foreign>
          </Title>
          {isVerified ? <Badge color="green">{text.verified}</Badge> : <Badge color="yellow">{text.unverified}</Badge>}
        </Group>
        {isAdmin ? (
          <Group gap="xs">
            <Button
              variant={isVerified ? 'default' : 'filled'}
              size="xs"
              leftSection={<IconRefresh size={14} aria-hidden />}
              loading={verifying.isPending}
              onClick={() => verifying.mutate({ domain_id: id })}
            >
              {isVerified ? text.verifyAgain : text.verify}
            </Button>
            <ConfirmButton
              size="xs"
              title={text.remove.title(name)}
              explanation={text.remove.explanation}
              confirmLabel={text.remove.confirm}
              onConfirm={() => removing.mutateAsync({ domain_id: id })}
            >
              {text.remove.button}
            </ConfirmButton>
          </Group>
        ) : null}
      </Group>
      <Text size="sm" c="dimmed" mt={4}>
        {isVerified ? text.verifiedBy[verifiedBy](formatDay(verifiedAt)) : text.choose}
      </Text>
      {isVerified ? null : <DomainProof domain={domain} />}
      {verifying.isError ? (
        <Alert color="red" role="alert" mt="sm">
          {messageOf(verifying.error)}
        </Alert>
      ) : null}
      {verifying.data ? <CheckResult check={verifying.data.check} /> : null}
    </Card>
  )
}

const EXAMPLE = '{"contact_data": {"email": "ada@example.com", "firstName": "Ada"}}'

function Forms() {
  const tenant = useQuery(queryOf('getTenant'))
  const tracker = useQuery(queryOf('getTracker'))
  if (!tenant.data || !tracker.data) return null
  const { forms } = text
  return (
    <SettingsPart title={forms.title}>
      <Text size="sm">{forms.explanation}</Text>
      <CopyableValues
        rows={[
          { label: forms.url, value: tracker.data.form_url, copy: forms.copyUrl },
          { label: forms.example, value: EXAMPLE, copy: forms.copyExample },
          { label: forms.id, value: tenant.data.tenant.tenant_id, copy: forms.copyId },
        ]}
      />
    </SettingsPart>
  )
}
