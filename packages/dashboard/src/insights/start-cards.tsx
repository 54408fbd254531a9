import { Card, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import { eventLabel } from '../ui/event-words.ts'
import { AnchorLink } from '../ui/link.tsx'
import { Foreign } from '../ui/text.tsx'
import { KIND_PATHS } from './kind-paths.ts'
import classes from './start-cards.module.css'
import { purchaseIn, type Template, templatesFor } from './templates.ts'
import { text } from './text.ts'

const words = text.start

/** Questions to start with, about the events that were seen; those that lack an event say which one. */
export function StartCards({ events }: { events: readonly string[] }) {
  const purchase = purchaseIn(events)
  const { data } = useQuery({
    ...queryOf('listProperties', { entity: 'events', event: purchase }),
    enabled: purchase !== undefined,
  })
  // Whether there is an amount is not known before.
  const isKnown = purchase === undefined || data !== undefined
  return (
    <ul className={classes.cards} aria-label={words.label}>
      {templatesFor(events, data?.properties ?? [])
        .filter(({ id }) => isKnown || id !== 'revenue')
        .map((template) => (
          <StartCard key={template.id} template={template} />
        ))}
    </ul>
  )
}

function StartCard({ template: { id, kind, events, question, missing } }: { template: Template }) {
  const names = events.map(eventLabel)
  return (
    <Card component="li" p="sm" className={classes.card} data-missing={question === null}>
      {question === null ? (
        <Text size="sm" fw={600} c="dimmed">
          {words.titles[id]}
        </Text>
      ) : (
        <AnchorLink
          size="sm"
          fw={600}
          className={classes.link}
          to={KIND_PATHS[kind]}
          search={{ question: JSON.stringify(question) }}
        >
          {words.titles[id]}
        </AnchorLink>
      )}
      <Text size="xs" c="dimmed" mt={2}>
        <Foreign max={160}>{missing ? words.missing[missing](names) : words.hints[id](names)}</Foreign>
      </Text>
    </Card>
  )
}
