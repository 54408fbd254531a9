import { Card, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import { formatNumber } from '../ui/format.ts'
import { propertyLabel } from '../ui/property-value.ts'
import { ErrorState } from '../ui/states.tsx'
import { Foreign } from '../ui/text.tsx'
import { text } from './text.ts'

const words = text.scores

/** The scores of a contact, each with the rules that match. A workspace without scores sees nothing. */
export function ScoresCard({ contactId }: { contactId: string }) {
  const { data, error, refetch } = useQuery(
    queryOf('getContact', { contact_id: contactId, include_events: false, include: 'scores' }),
  )
  const scores = Object.entries(data?.contact.scores ?? {})
  if (error && !data) {
    return (
      <Card>
        <ErrorState error={error} onRetry={refetch} />
      </Card>
    )
  }
  if (scores.length === 0) return null
  return (
    <Card component="section" aria-label={words.title}>
      <Title order={2} size="h5" mb="xs">
        {words.title}
      </Title>
      <Stack gap="md">
        {scores.map(([name, { value, reasons }]) => (
          <Stack key={name} gap={4}>
            <Group justify="space-between" wrap="nowrap">
              <Text size="sm" fw={550}>
                <Foreign max={80}>{propertyLabel(name)}</Foreign>
              </Text>
              <Text size="sm" fw={650}>
                {formatNumber(value)}
              </Text>
            </Group>
            {reasons.length === 0 ? (
              <Text size="xs" c="dimmed">
                {words.noReasons}
              </Text>
            ) : (
              <Stack component="ul" gap={2} m={0} p={0} style={{ listStyle: 'none' }} aria-label={words.reasons(name)}>
                {reasons.map(({ points, text: reason }, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: two rules may say the same
                  <Group key={index} component="li" gap="xs" wrap="nowrap" align="flex-start">
                    <Text size="xs" fw={550} flex="none" miw={36} ta="right">
                      {words.points(points)}
                    </Text>
                    <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                      <Foreign max={400}>{reason}</Foreign>
                    </Text>
                  </Group>
                ))}
              </Stack>
            )}
          </Stack>
        ))}
      </Stack>
    </Card>
  )
}
