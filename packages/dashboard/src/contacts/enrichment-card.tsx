import { Badge, Button, Card, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { queryOf, useOperation } from '../api/operation.ts'
import type { ProviderFindings } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import { Facts } from '../ui/facts.tsx'
import { FormError } from '../ui/form.tsx'
import { propertyLabel } from '../ui/property-value.ts'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { Moment, None } from '../ui/text.tsx'
import { text } from './text.ts'

/** What a provider filled, or why it did not. */
function OfProvider({ result: { outcome, filled, at, error, enabled } }: { result: ProviderFindings }) {
  const words = text.enrichment
  const nameOf = (key: string) =>
    key.startsWith('company.') ? words.ofCompany(propertyLabel(key.slice('company.'.length))) : propertyLabel(key)
  const names = filled.map((key) => words.columns[key] ?? nameOf(key)).join(', ')
  return (
    <Stack gap={0} align="flex-end">
      {outcome === null ? <None /> : <span>{names === '' ? words.outcomes[outcome] : names}</span>}
      {error ? (
        <Text size="xs" c="red">
          {error.message}
        </Text>
      ) : null}
      {at ? (
        <Text size="xs" c="dimmed">
          <Moment at={at} />
        </Text>
      ) : null}
      {enabled ? null : <Badge color="gray">{words.off}</Badge>}
    </Stack>
  )
}

/** What enrichment filled in a contact, and when. */
export function EnrichmentCard({ contactId }: { contactId: string }) {
  const mayWrite = useMay('contacts:write')
  const { data, error, refetch } = useQuery(queryOf('getContactEnrichment', { contact_id: contactId }))
  const enriching = useOperation('enrichContact')
  const words = text.enrichment
  return (
    <Card component="section" aria-label={words.title}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h6">
            {words.title}
          </Title>
          {mayWrite ? (
            <Button
              variant="default"
              size="compact-xs"
              loading={enriching.isPending}
              onClick={() => enriching.mutate({ contact_id: contactId })}
            >
              {words.now}
            </Button>
          ) : null}
        </Group>
        <FormError error={enriching.error} />
        {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
        {!error && !data ? <LoadingState lines={4} /> : null}
        {data ? (
          <Facts
            facts={[
              ...data.enrichment.results.map(({ enricher, enabled, filled, found_at: at }): [string, ReactNode] => [
                words.enrichers[enricher] ?? enricher,
                <Stack key={enricher} gap={0} align="flex-end">
                  {filled.length > 0 ? (
                    <span>{filled.map((key) => words.columns[key] ?? propertyLabel(key)).join(', ')}</span>
                  ) : (
                    <None />
                  )}
                  {filled.length > 0 && at ? (
                    <Text size="xs" c="dimmed">
                      <Moment at={at} />
                    </Text>
                  ) : null}
                  {enabled ? null : <Badge color="gray">{words.off}</Badge>}
                </Stack>,
              ]),
              ...data.enrichment.providers.map((each): [string, ReactNode] => [
                each.provider,
                <OfProvider key={each.provider_id} result={each} />,
              ]),
            ]}
          />
        ) : null}
        {data?.enrichment.waiting ? (
          <Text size="sm" c="dimmed">
            {words.waiting}
          </Text>
        ) : null}
      </Stack>
    </Card>
  )
}
