import { Text, Tooltip } from '@mantine/core'
import type { Event } from '../api/types.ts'
import { formatIn } from '../session/time-zone.ts'
import { eventIcon, eventLine } from './event-words.ts'
import { formatMoment } from './format.ts'
import { AnchorLink } from './link.tsx'
import type { TimedEvent } from './page-times.ts'
import { text } from './text.ts'
import { Foreign, placeOf } from './text.tsx'
import classes from './timeline.module.css'

interface EventRowProps {
  event: TimedEvent<Event>
  /** Whether the line starts with the contact. */
  withName?: boolean
  /** Whether it has the browser and the device, which a visit has once for all its events. */
  withDevice?: boolean
}

/** One event in a list. */
export function EventRow({ event, withName = false, withDevice = true }: EventRowProps) {
  const { event: name, url, timestamp, browser, device_type: device, event_id: eventId } = event
  const Icon = eventIcon(name)
  const where = withDevice ? [browser, device].filter(Boolean).join(', ') : ''
  return (
    <li className={classes.row}>
      <span className={classes.icon} aria-hidden>
        <Icon size={16} stroke={1.7} />
      </span>
      <div className={classes.words}>
        <Text size="sm" className={classes.line}>
          {withName ? <ContactOf item={event} /> : null}
          <Tooltip label={text.event.rawName(name)}>
            <AnchorLink inherit c="inherit" fw={550} to="/events/$eventId" params={{ eventId }}>
              <Foreign max={300}>{eventLine(event)}</Foreign>
            </AnchorLink>
          </Tooltip>
        </Text>
        {url || where ? (
          <Text size="xs" c="dimmed" className={classes.where}>
            {url ? <Foreign max={120}>{placeOf(url)}</Foreign> : null}
            {url && where ? ' · ' : ''}
            {where}
          </Text>
        ) : null}
      </div>
      <Time at={timestamp} />
    </li>
  )
}

export function Time({ at }: { at: string }) {
  return (
    <Text component="time" dateTime={at} title={formatMoment(at)} size="xs" c="dimmed" flex="none">
      {TIME(new Date(at))}
    </Text>
  )
}

const TIME = formatIn({ hour: '2-digit', minute: '2-digit' })

/** Who an event or a visit belongs to, before its line. */
export function ContactOf({ item: { contact, is_bot } }: { item: Pick<Event, 'contact' | 'is_bot'> }) {
  if (!contact) return <>{`${is_bot ? text.timeline.bot : text.timeline.anonymous} · `}</>
  const name = [contact.firstname, contact.lastname].filter(Boolean).join(' ') || contact.email || text.timeline.unnamed
  return (
    <>
      <AnchorLink inherit to="/contacts/$contactId" params={{ contactId: contact._id }}>
        <Foreign max={80}>{name}</Foreign>
      </AnchorLink>
      {' · '}
    </>
  )
}
