import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import { Engaged, Figure } from '../records/overview-figures.tsx'
import { formatNumber } from '../ui/format.ts'
import { AnchorLink } from '../ui/link.tsx'
import { Foreign } from '../ui/text.tsx'
import { text } from './text.ts'

const words = text.overview
const SHOWN = 3

/** What matters about a company at a glance: its people, when they were here, how often and for what, and who of them most. */
export function CompanyOverview({ companyId }: { companyId: string }) {
  const reading = useQuery(queryOf('getCompanyEngagement', { company_id: companyId }))
  const { data, error } = reading
  const unknown = error ? '–' : '…'
  const active = data?.most_active.slice(0, SHOWN) ?? []
  return (
    <Engaged reading={reading}>
      <Figure label={words.people}>{data ? formatNumber(data.contacts) : unknown}</Figure>
      <Figure label={words.active}>
        {active.length === 0 ? (
          <Text span inherit c="dimmed">
            {data ? words.nobody : unknown}
          </Text>
        ) : (
          <Stack gap={0} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
            {active.map(({ contact: { _id: contactId, firstname, lastname, email }, engagement }) => (
              <Text key={contactId} component="li" size="sm" truncate>
                <AnchorLink inherit to="/contacts/$contactId" params={{ contactId }}>
                  <Foreign max={60}>
                    {[firstname, lastname].filter(Boolean).join(' ') || (email ?? words.contact)}
                  </Foreign>
                </AnchorLink>
                <Text span inherit c="dimmed">
                  {words.visits(engagement.visits)}
                </Text>
              </Text>
            ))}
          </Stack>
        )}
      </Figure>
    </Engaged>
  )
}
