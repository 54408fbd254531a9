import {
  Alert,
  Autocomplete,
  Button,
  Card,
  Code,
  Grid,
  Group,
  ScrollArea,
  SegmentedControl,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { queryOf, useOperation } from '../api/operation.ts'
import type { UrlFilter, Webhook } from '../api/types.ts'
import { AnchorLink, ButtonLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { ErrorState, LoadingState, messageOf } from '../ui/states.tsx'
import { upTo } from '../ui/up-to.ts'
import { useWhere, WhereFields } from './conditions.tsx'
import { HeaderFields } from './header-fields.tsx'
import { MessageFields } from './message-fields.tsx'
import { SecretShown } from './secret-shown.tsx'
import { isOfSegments, SegmentField } from './segment-field.tsx'
import { text } from './text.ts'
import { UrlFilterFields } from './url-filter-fields.tsx'

const route = getRouteApi('/shell/webhooks/new')

/** Creates a webhook subscription. */
export function NewWebhookPage() {
  const {
    data: types = [],
    error,
    isPending,
    refetch,
  } = useQuery({
    ...queryOf('listWebhookEventTypes'),
    select: ({ event_types }) => event_types,
  })
  const search = route.useSearch()
  const [event, setEvent] = useState(search.event ?? '')
  const [segmentId, setSegmentId] = useState<string | null>(search.segment ?? null)
  const [url, setUrl] = useState('')
  const [urlFilter, setUrlFilter] = useState<UrlFilter | null>(null)
  const { form: whereForm, where } = useWhere(null)
  const [headers, setHeaders] = useState<{ name: string; value: string }[]>([])
  const [format, setFormat] = useState<Webhook['format']>('json')
  const [template, setTemplate] = useState<string | null>(null)
  const saving = useOperation('createWebhook')
  const submit = (submitted: FormEvent) => {
    submitted.preventDefault()
    saving.mutate({
      event: event.trim(),
      url: url.trim(),
      ...(urlFilter === null ? {} : { url_filter: urlFilter }),
      ...(where === null ? {} : { where }),
      ...(segmentId !== null && isOfSegments(event.trim()) ? { segment_id: segmentId } : {}),
      headers,
      format,
      template: format === 'slack' ? template : null,
    })
  }
  const breadcrumb = (
    <AnchorLink inherit to="/webhooks">
      {text.title}
    </AnchorLink>
  )
  if (saving.data) {
    const { webhook, signing_secret: secret } = saving.data
    return (
      <>
        <PageHeader title={text.create.created} breadcrumb={breadcrumb} />
        <Stack gap="md" maw={820}>
          <SecretShown secret={secret} />
          <div>
            <ButtonLink to="/webhooks/$webhookId" params={{ webhookId: webhook.subscription_id }}>
              {text.create.saved}
            </ButtonLink>
          </div>
        </Stack>
      </>
    )
  }
  const chosen = types.find((type) => type.event === event.trim())
  return (
    <>
      <PageHeader title={text.create.title} breadcrumb={breadcrumb} />
      <Grid gap="md">
        <Grid.Col span={{ base: 12, lg: 6 }}>
          <Card component="form" onSubmit={submit}>
            <Stack gap="md">
              <Autocomplete
                label={text.create.event}
                description={text.create.eventDescription}
                required
                value={event}
                onChange={setEvent}
                data={types.map((type) => type.event)}
                {...upTo(200)}
              />
              {isOfSegments(event.trim()) ? <SegmentField value={segmentId} onChange={setSegmentId} /> : null}
              <TextInput
                label={text.url}
                description={format === 'slack' ? text.create.slackUrlDescription : text.create.urlDescription}
                type="url"
                required
                placeholder={format === 'slack' ? text.create.slackUrlPlaceholder : text.create.urlPlaceholder}
                value={url}
                onChange={(changed) => setUrl(changed.currentTarget.value)}
                {...upTo(2_000)}
              />
              <div>
                <Text size="sm" fw={550} mb={4} id="webhook-format">
                  {text.create.format}
                </Text>
                <SegmentedControl
                  aria-labelledby="webhook-format"
                  value={format}
                  onChange={setFormat}
                  data={[
                    { value: 'json', label: text.formats.json },
                    { value: 'slack', label: text.formats.slack },
                  ]}
                />
              </div>
              {format === 'slack' ? (
                <MessageFields event={event.trim()} value={template} onChange={setTemplate} />
              ) : null}
              <UrlFilterFields value={urlFilter} onChange={setUrlFilter} />
              <WhereFields form={whereForm} event={event.trim()} />
              <HeaderFields value={headers} onChange={setHeaders} />
              {saving.isError ? (
                <Alert color="red" role="alert" title={text.create.failed}>
                  {messageOf(saving.error)}
                </Alert>
              ) : null}
              <Group gap="xs">
                <Button type="submit" loading={saving.isPending} disabled={whereForm.unfinished > 0}>
                  {text.create.submit}
                </Button>
                <ButtonLink variant="default" to="/webhooks">
                  {text.create.cancel}
                </ButtonLink>
              </Group>
            </Stack>
          </Card>
        </Grid.Col>
        {format === 'json' ? (
          <Grid.Col span={{ base: 12, lg: 6 }}>
            <Card>
              <Title order={2} size="h5" mb="xs">
                {text.create.payload}
              </Title>
              {error ? <ErrorState error={error} onRetry={refetch} /> : null}
              {isPending ? <LoadingState lines={4} /> : null}
              <Text size="sm" c="dimmed" mb="sm">
                {chosen?.summary ?? text.create.chooseEvent}
              </Text>
              {chosen ? (
                <ScrollArea.Autosize
                  mah={560}
                  viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': text.create.sample }}
                >
                  <Code block>{JSON.stringify(chosen.sample, null, 2)}</Code>
                </ScrollArea.Autosize>
              ) : null}
            </Card>
          </Grid.Col>
        ) : null}
      </Grid>
    </>
  )
}
