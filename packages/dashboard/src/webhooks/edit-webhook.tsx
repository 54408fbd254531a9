import { Checkbox, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useOperation } from '../api/operation.ts'
import type { Webhook } from '../api/types.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { useWhere, WhereFields } from './conditions.tsx'
import { HeaderFields } from './header-fields.tsx'
import { MessageFields } from './message-fields.tsx'
import { text } from './text.ts'
import { UrlFilterFields } from './url-filter-fields.tsx'

/** URL, text, filter and headers. A message's URL is a secret that is not shown. Header values are never shown again, so the headers are kept or replaced as a whole. */
export function EditWebhookDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const isMessage = webhook.format === 'slack'
  const [url, setUrl] = useState(isMessage ? '' : webhook.url)
  const [urlFilter, setUrlFilter] = useState(webhook.url_filter)
  const { form: whereForm, where } = useWhere(webhook.where)
  const [template, setTemplate] = useState(webhook.template)
  const [replacesHeaders, setReplacesHeaders] = useState(false)
  const [headers, setHeaders] = useState(webhook.header_names.map((name) => ({ name, value: '' })))
  const saving = useOperation('updateWebhook', { onDone: onClose })
  const submit = () => {
    const keepsUrl = isMessage && url.trim() === ''
    saving.mutate({
      subscription_id: webhook.subscription_id,
      ...(keepsUrl ? {} : { url: url.trim() }),
      url_filter: urlFilter,
      where,
      ...(replacesHeaders ? { headers } : {}),
      ...(isMessage ? { template } : {}),
    })
  }
  return (
    <FormDialog
      title={text.edit.title}
      submit={text.edit.submit}
      size="lg"
      sending={saving}
      isDisabled={whereForm.unfinished > 0}
      onSubmit={submit}
      onClose={onClose}
    >
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
      <WhereFields form={whereForm} event={webhook.event} />
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
    </FormDialog>
  )
}
