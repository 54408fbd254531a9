import { Alert, Text } from '@mantine/core'
import { IconCircleCheck } from '@tabler/icons-react'
import type { GetTrackerResult } from '../api/types.ts'
import { eventLabel } from '../ui/event-words.ts'
import { AnchorLink } from '../ui/link.tsx'
import { ExternalLink, Foreign, placeOf } from '../ui/text.tsx'
import { text as texts } from './text.ts'

const text = texts.firstEvent
const NEW_MS = 3_600_000

/** Points to the first event of the workspace for an hour, and to whose it is. */
export function FirstEvent({ event }: { event: NonNullable<GetTrackerResult['first_event']> }) {
  const { event: name, url, visitor_id: visitorId, contact_id: contactId } = event
  if (Date.now() - Date.parse(event.timestamp) > NEW_MS) return null
  return (
    <Alert color="teal" role="status" icon={<IconCircleCheck aria-hidden />} title={text.title}>
      <Text size="sm">
        {url === null ? (
          <Foreign max={120}>{eventLabel(name)}</Foreign>
        ) : (
          <>
            <Foreign max={120}>{text.on(eventLabel(name))}</Foreign>
            <ExternalLink url={url}>
              <Foreign max={120}>{placeOf(url)}</Foreign>
            </ExternalLink>
          </>
        )}
        {' · '}
        {contactId === null ? (
          <AnchorLink inherit underline="always" to="/visitors/$visitorId" params={{ visitorId }}>
            {text.visitor}
          </AnchorLink>
        ) : (
          <AnchorLink inherit underline="always" to="/contacts/$contactId" params={{ contactId }}>
            {text.contact}
          </AnchorLink>
        )}
      </Text>
    </Alert>
  )
}
