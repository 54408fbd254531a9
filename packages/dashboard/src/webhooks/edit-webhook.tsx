import { Button, Checkbox, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { updateWebhook, Webhook } from '../api/webhooks.ts'
import { Form, FormError } from '../ui/form.tsx'
import { HeaderFields } from './header-fields.tsx'
import { MessageFields } from './message-fields.tsx'
import { text } from './text.ts'
import { UrlFilterFields } from './url-filter-fields.tsx'

interface EditWebhookProps {
  webhook: Webhook
  onSave: (changes: Parameters<typeof updateWebhook>[1]) => Promise<void>
}

/** URL, text, filter and headers. A message's URL is a secret that is not shown. Header values are never shown again, so the headers are kept or replaced as a whole. */
export function EditWebhook({ webhook, onSave }: EditWebhookProps) {
  const isMessage = webhook.format === 'slack'
  const [url, setUrl] = useState(isMessage ? '' : webhook.url)
  const [urlFilter, setUrlFilter] = useState(webhook.url_filter)
  const [template, setTemplate] = useState(webhook.template)
  const [replacesHeaders, setReplacesHeaders] = useState(false)
  const [headers, setHeaders] = useState(webhook.header_names.map((name) => ({ name, value: '' })))
  const saving = useMutation({ mutationFn: onSave })
  const submit = () => {
    const kept = isMessage && url.trim() === ''
    saving.mutate({
      ...(kept ? {} : { url: url.trim() }),
      url_filter: urlFilter,
      ...(replacesHeaders ? { headers } : {}),
      ...(isMessage ? { template } : {}),
    })
  }
  return (
    <Form onSubmit={submit}>
      <TextInput
        label={text.url}
        type="url"
        required={!isMessage}
        {...(isMessage ? { description: text.edit.urlKept(webhook.url) } : {})}
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
        maxLength={2_000}
      />
      {isMessage ? <MessageFields event={webhook.event} value={template} onChange={setTemplate} /> : null}
      <UrlFilterFields value={urlFilter} onChange={setUrlFilter} />
      <Checkbox
        label={
          webhook.header_names.length > 0
            ? text.edit.replaceHeaders(webhook.header_names.join(', '))
            : text.edit.addHeaders
        }
        checked={replacesHeaders}
        onChange={(event) => setReplacesHeaders(event.currentTarget.checked)}
      />
      {replacesHeaders ? <HeaderFields value={headers} onChange={setHeaders} /> : null}
      <FormError error={saving.error} />
      <Button type="submit" ml="auto" loading={saving.isPending}>
        {text.edit.submit}
      </Button>
    </Form>
  )
}
