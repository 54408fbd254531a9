import { Badge, Card, Group, Stack, Switch, Table, Text, Title } from '@mantine/core'
import { IconDatabase } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { queryOf } from '../api/operation.ts'
import type { Contact, UnifiedProfile } from '../api/types.ts'
import { Facts } from '../ui/facts.tsx'
import { propertyLabel, propertyText, usualNames } from '../ui/property-value.ts'
import { EmptyState } from '../ui/states.tsx'
import { Foreign, Moment, None } from '../ui/text.tsx'
import classes from './source-table.module.css'
import { text } from './text.ts'

/** The values of a contact from each source side by side, and which one is in use. */
export function SourceTable({ profile, contact }: { profile: UnifiedProfile; contact: Contact }) {
  const [onlyConflicts, setOnlyConflicts] = useState(false)
  const sources = Object.keys(profile.sources)
  const { data } = useQuery(queryOf('listProperties', { entity: 'contacts' }))
  const usual = usualNames(data?.properties)
  const rank = (name: string) => (usual.includes(name) ? usual.indexOf(name) : usual.length)
  const all = Object.entries(profile.profile).sort(([a], [b]) => rank(a) - rank(b) || a.localeCompare(b))
  const fields = all.filter(([, field]) => !onlyConflicts || field.has_conflict)
  const conflicts = all.filter(([, field]) => field.has_conflict).length
  if (all.length === 0) {
    return (
      <EmptyState icon={IconDatabase} title={text.sources.none}>
        {text.sources.noneHint}
      </EmptyState>
    )
  }
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          {conflicts === 0 ? text.sources.agreeing(sources.length) : text.sources.differing(sources.length, conflicts)}
        </Text>
        {conflicts > 0 ? (
          <Switch
            label={text.sources.onlyDifferences}
            checked={onlyConflicts}
            onChange={(event) => setOnlyConflicts(event.currentTarget.checked)}
          />
        ) : null}
      </Group>
      <Card padding={0}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
        <section className={classes.scroll} aria-label={text.sources.table} tabIndex={0}>
          <Table className={classes.table}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">{text.sources.field}</Table.Th>
                {sources.map((source) => (
                  <Table.Th key={source} scope="col">
                    <Foreign max={40}>{text.sources.names[source] ?? source}</Foreign>
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {fields.map(([name, field]) => (
                <FieldRow key={name} name={name} field={field} sources={sources} used={contact.properties[name]} />
              ))}
            </Table.Tbody>
          </Table>
        </section>
      </Card>
      <Group align="stretch" gap="md">
        {Object.entries(profile.sources).map(([source, about]) => (
          <SourceCard key={source} source={source} about={about} />
        ))}
      </Group>
    </Stack>
  )
}

interface FieldRowProps {
  name: string
  field: UnifiedProfile['profile'][string]
  sources: string[]
  used: unknown
}

function FieldRow({ name, field, sources, used }: FieldRowProps) {
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={500}>
        <Foreign max={60}>{propertyLabel(name)}</Foreign>
        {field.has_conflict ? (
          <Badge color="orange" ml={8}>
            {text.sources.differs}
          </Badge>
        ) : null}
      </Table.Th>
      {sources.map((source) => {
        const said = field.unique_values.find(({ sources: by }) => by.some((one) => one.source === source))
        const at = said?.sources.find((one) => one.source === source)?.updated_at
        const value = propertyText(said?.value)
        const isUsed = said !== undefined && value === propertyText(used)
        return (
          <Table.Td key={source} className={isUsed && field.has_conflict ? classes.used : undefined}>
            {said === undefined ? (
              <None />
            ) : (
              <>
                <Foreign max={160}>{value}</Foreign>
                <Text size="xs" c="dimmed">
                  {at ? <Moment at={at} /> : null}
                  {isUsed && field.has_conflict ? text.sources.inUse : ''}
                </Text>
              </>
            )}
          </Table.Td>
        )
      })}
    </Table.Tr>
  )
}

function SourceCard({ source, about }: { source: string; about: UnifiedProfile['sources'][string] }) {
  const moments = [
    [text.sources.firstSeen, about.first_seen_at],
    [text.sources.changed, about.updated_at],
    [text.sources.synced, about.synced_at],
    [text.sources.enriched, about.enriched_at],
  ].flatMap(([name, at]): [string, React.ReactNode][] => (name && at ? [[name, <Moment key={name} at={at} />]] : []))
  return (
    <Card flex="1 1 220px" maw={340}>
      <Title order={2} size="h6" mb="xs">
        <Foreign max={60}>{text.sources.names[source] ?? source}</Foreign>
      </Title>
      <Facts
        facts={[
          ...(about.external_id
            ? [[text.sources.externalId, <Foreign key="id">{about.external_id}</Foreign>] as [string, React.ReactNode]]
            : []),
          ...moments,
        ]}
      />
    </Card>
  )
}
