import { Alert, Button, Checkbox, Grid, Group, Stack } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useOperation } from '../api/operation.ts'
import type { Hook, HookBody } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import { AnchorLink, ButtonLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { ErrorState, LoadingState, messageOf } from '../ui/states.tsx'
import { Foreign } from '../ui/text.tsx'
import { bodiesQuery, hookQuery } from './hook-queries.ts'
import classes from './mapping.module.css'
import { isMapped, toMapping } from './mapping-draft.ts'
import { MappingFields } from './mapping-fields.tsx'
import { MappingPreview } from './mapping-preview.tsx'
import { SamplePanel } from './sample-panel.tsx'
import { text } from './text.ts'
import { useMappingDraft } from './use-mapping-draft.ts'

const route = getRouteApi('/shell/hooks/$hookId/mapping')
/** How often it is asked whether a first delivery has arrived, while there is none. */
const WAIT_MS = 2_000

/** The editor of a hook's mapping, based on a sample. */
export function MappingPage() {
  const { hookId } = route.useParams()
  const hook = useQuery(hookQuery(hookId))
  // Once there is a delivery, later ones do not replace the sample under the person's hands.
  const bodies = useQuery({
    ...bodiesQuery(hookId),
    refetchInterval: ({ state: { data } }) => (data?.bodies.length === 0 ? WAIT_MS : false),
  })
  const failed = [hook, bodies].find(({ data, error }) => error !== null && data === undefined)
  const breadcrumb = (
    <AnchorLink inherit to="/hooks/$hookId" params={{ hookId }}>
      {hook.data ? <Foreign max={80}>{hook.data.hook.name}</Foreign> : text.one.title}
    </AnchorLink>
  )
  return (
    <>
      <PageHeader title={text.mapping.title} description={text.mapping.description} breadcrumb={breadcrumb} />
      {failed ? (
        <ErrorState error={failed.error} onRetry={failed.refetch} />
      ) : hook.data && bodies.data ? (
        // If the hook is changed elsewhere, the draft is replaced only when the page is opened again.
        <Editor key={hookId} hook={hook.data.hook} bodies={bodies.data.bodies} />
      ) : (
        <LoadingState lines={10} />
      )}
    </>
  )
}

function Editor({ hook, bodies }: { hook: Hook; bodies: readonly HookBody[] }) {
  const { hook_id: hookId } = hook
  const search = route.useSearch()
  const isReadOnly = !useMay('settings:write')
  const [selected, setSelected] = useState<string | null>(null)
  /** null: a pasted sample; undefined: the newest delivery. */
  const [chosen, setChosen] = useState<string | null | undefined>(search.body)
  const [sample, setSample] = useState<unknown>(undefined)
  const { draft, setDraft, guess, isGuessed, guessError } = useMappingDraft(hook, sample, isReadOnly)
  const mapping = toMapping(draft)
  return (
    <Grid gap="md">
      <Grid.Col span={{ base: 12, md: 6 }}>
        <Stack gap="md" className={classes.beside}>
          {isReadOnly ? <Alert>{text.mapping.readOnly}</Alert> : null}
          <SamplePanel
            hookId={hookId}
            bodies={bodies}
            bodyId={chosen === null ? undefined : (chosen ?? bodies[0]?.body_id)}
            onBody={(next) => {
              setSample(undefined)
              setChosen(next ?? null)
            }}
            sample={sample}
            onSample={setSample}
            draft={draft}
            setDraft={isReadOnly ? null : setDraft}
            selected={selected}
          />
          <MappingPreview hookId={hookId} mapping={mapping} sample={sample} />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 6 }}>
        <Stack gap="md">
          {guessError ? <ErrorState error={guessError} /> : null}
          {isGuessed ? (
            <Alert role="status">{text.mapping.guessed}</Alert>
          ) : guess ? (
            <div>
              <Button size="xs" variant="default" onClick={guess}>
                {text.mapping.guess}
              </Button>
            </div>
          ) : null}
          <MappingFields
            draft={draft}
            setDraft={setDraft}
            sample={sample}
            selected={selected}
            onSelect={setSelected}
            isReadOnly={isReadOnly}
          />
          {isReadOnly ? null : <Save hook={hook} bodies={bodies} mapping={mapping} />}
        </Stack>
      </Grid.Col>
    </Grid>
  )
}

/** Saves the mapping, and has it record the deliveries that came before it. */
function Save({ hook, bodies, mapping }: { hook: Hook; bodies: readonly HookBody[]; mapping: Hook['mapping'] }) {
  const { hook_id } = hook
  const navigate = route.useNavigate()
  const [retries, setRetries] = useState(!isMapped(hook.mapping))
  const waiting = bodies.filter(({ state }) => state === 'skipped' || state === 'failed').length
  const saving = useOperation('updateHook', {
    onDone: async ({ retried_bodies: retried }) => {
      notifications.show({ color: 'green', message: text.mapping.saved(retried) })
      await navigate({ to: '/hooks/$hookId', params: { hookId: hook_id } })
    },
  })
  return (
    <>
      {waiting > 0 ? (
        <Checkbox
          label={text.mapping.retry(waiting)}
          checked={retries}
          onChange={(event) => setRetries(event.currentTarget.checked)}
        />
      ) : null}
      {saving.isError ? (
        <Alert color="red" role="alert" title={text.mapping.failed}>
          {messageOf(saving.error)}
        </Alert>
      ) : null}
      <Group gap="xs">
        <Button loading={saving.isPending} onClick={() => saving.mutate({ hook_id, mapping, retry_bodies: retries })}>
          {text.mapping.save}
        </Button>
        <ButtonLink variant="default" to="/hooks/$hookId" params={{ hookId: hook_id }}>
          {text.mapping.cancel}
        </ButtonLink>
      </Group>
    </>
  )
}
