import { Button, Code, Group, Loader } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { queryOf } from '../api/operation.ts'
import { ErrorState } from '../ui/states.tsx'
import classes from './action-content.module.css'
import { text } from './text.ts'

interface MailPreviewProps {
  subject: string
  message: string
}

/** Both parts of an email, rendered by the service that sends it. */
export function MailPreview(mail: MailPreviewProps) {
  const reading = useQuery({
    ...queryOf('previewMail', mail),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const { error, refetch } = reading
  const data = reading.data?.preview
  const [isPlain, setPlain] = useState(false)
  if (error && !data) return <ErrorState error={error} onRetry={refetch} />
  if (!data) return <Loader size="sm" type="dots" aria-hidden />
  return (
    <div>
      {isPlain ? (
        <Code block className={classes.source} dir="auto">
          {data.text}
        </Code>
      ) : (
        <MailFrame html={data.html} title={text.content.mail(data.subject)} />
      )}
      <Group justify="flex-end">
        <Button variant="subtle" size="compact-xs" onClick={() => setPlain(!isPlain)}>
          {isPlain ? text.content.formatted : text.content.plainText}
        </Button>
      </Group>
    </div>
  )
}

/** A document from the service in a frame that runs no script, opens no link and grows with its content. */
function MailFrame({ html, title }: { html: string; title: string }) {
  const [height, setHeight] = useState(120)
  const fit = (frame: HTMLIFrameElement) => {
    const page = frame.contentDocument
    if (!page) return
    // As a mail program shows a mail without styles of its own.
    Object.assign(page.body.style, {
      margin: '0',
      padding: '4px 12px',
      font: '14px/1.5 system-ui, sans-serif',
      overflowWrap: 'anywhere',
    })
    const observer = new ResizeObserver(() => setHeight(page.documentElement.offsetHeight))
    observer.observe(page.documentElement)
  }
  return (
    <iframe
      className={classes.mail}
      title={title}
      srcDoc={html}
      // Scripts stay off; the same origin lets this page measure the height.
      sandbox="allow-same-origin"
      referrerPolicy="no-referrer"
      height={height}
      onLoad={(event) => fit(event.currentTarget)}
    />
  )
}
