import { Badge, Button, Card, Group, Text } from '@mantine/core'
import { useState } from 'react'
import type { Message, Participant } from '../api/types.ts'
import { formatMoment } from '../ui/format.ts'
import { styleNonce } from '../ui/nonce.ts'
import { Foreign } from '../ui/text.tsx'
import classes from './message-card.module.css'
import { text } from './text.ts'

/** One message: as text, or as HTML in a frame without scripts. */
export function MessageCard({ message }: { message: Message }) {
  const { direction, from, to, sent_at, text: content, html, attachments, truncated } = message
  const [isHtml, setHtml] = useState(false)
  const canHtml = html !== undefined && html !== ''
  return (
    <Card padding="sm" component="article" aria-label={text.conversations.messageFrom(nameOf(from))}>
      <Group justify="space-between" gap="xs" mb="xs">
        <Text size="xs" c="dimmed" component="div">
          <Badge color={direction === 'inbound' ? 'teal' : 'ink'} mr={6}>
            {direction === 'inbound' ? text.conversations.received : text.conversations.sent}
          </Badge>
          <Foreign max={100}>{nameOf(from)}</Foreign>
          {text.conversations.to}
          <Foreign max={100}>{to.map(nameOf).join(', ')}</Foreign>
          {', '}
          {formatMoment(sent_at)}
        </Text>
        {canHtml ? (
          <Button variant="subtle" size="compact-xs" onClick={() => setHtml(!isHtml)}>
            {isHtml ? text.conversations.asText : text.conversations.asSent}
          </Button>
        ) : null}
      </Group>
      {isHtml && canHtml ? (
        <iframe
          className={classes.frame}
          title={text.conversations.messageFrom(nameOf(from))}
          // Without allow-scripts and allow-same-origin, nothing in it runs or reaches this page.
          sandbox="allow-popups allow-popups-to-escape-sandbox"
          srcDoc={`<!doctype html><meta charset="utf-8"><style nonce="${styleNonce()}">${FRAME_STYLE}</style>${html}`}
        />
      ) : (
        <Text size="sm" className={classes.text} dir="auto">
          {content}
        </Text>
      )}
      {truncated ? (
        <Text size="xs" c="dimmed" mt="xs">
          {text.conversations.truncated}
        </Text>
      ) : null}
      {attachments.length > 0 ? (
        <Group gap={6} mt="xs">
          {attachments.map(({ filename, content_type, bytes }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: attachments have no name of their own
            <Badge key={index} color="gray">
              <Foreign max={60}>{filename ?? content_type}</Foreign> ·{' '}
              {text.conversations.size(Math.ceil(bytes / 1024))}
            </Badge>
          ))}
        </Group>
      ) : null}
    </Card>
  )
}

const FRAME_STYLE = 'body{font:14px/1.5 system-ui,sans-serif;margin:8px;overflow-wrap:anywhere}img{max-width:100%}'

function nameOf({ name, address }: Participant): string {
  return name || address || text.conversations.unknown
}
