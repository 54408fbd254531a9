import { Alert, Button, Grid, Stack } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { type Hook, type HookBody, hookBodiesQuery, hookQuery, refreshHooks, updateHook } from '../api/hooks.ts'
import { useMay } from '../session/may.ts'
import { AnchorLink, ButtonLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { ErrorState, LoadingState, messageOf } from '../ui/states.tsx'
import { Foreign } from '../ui/text.tsx'
import classes from './mapping.module.css'
import { type Draft, draftOf, keyOfPath, nameOf, toMapping } from './mapping-draft.ts'
import { MappingFields } from './mapping-fields.tsx'
import { MappingPreview } from './mapping-preview.tsx'
import { SamplePanel } from './sample-panel.tsx'
import { text } from './text.ts'

const route = getRouteApi('/shell/hooks/$hookId/mapping')

/** The editor of a hook's mapping, based on a sample. */
export function MappingPage() {
  const { hookId } = route.useParams()
  const hook = useQuery(hookQuery(hookId))
  const bodies = useQuery(hookBodiesQuery(hookId))
  const failed = [hook, bodies].find(({ data, error }) => error !== null && data === undefined)
  const breadcrumb = (
    <AnchorLink inherit to="/hooks/$hookId" params={{ hookId }}>
      {hook.data ? <Foreign max={80}>{hook.data.name}</Foreign> : text.one.title}
    </AnchorLink>
  )
  return (
    <>
      <PageHeader title={text.mapping.title} description={text.mapping.description} breadcrumb={breadcrumb} />
      {failed ? (
        <ErrorState error={failed.error} onRetry={failed.refetch} />
      ) : hook.data && bodies.data ? (
        // If the hook is changed elsewhere, the draft is replaced only when the page is opened again.
        <Editor key={hookId} hook={hook.data} bodies={bodies.data} />
      ) : (
        <LoadingState lines={10} />
      )}
    </>
  )
}

function Editor({ hook, bodies }: { hook: Hook; bodies: readonly HookBody[] }) {
  const { hook_id: hookId } = hook
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const queryClient = useQueryClient()
  const isReadOnly = !useMay('settings:write')
  const [draft, setDraft] = useState<Draft>(() => draftOf(hook.mapping))
  const [selected, setSelected] = useState<string | null>(null)
  const [bodyId, setBodyId] = useState<string | undefined>(search.body ?? bodies[0]?.body_id)
  const [sample, setSample] = useState<unknown>(undefined)
  const mapping = useMemo(() => toMapping(draft), [draft])
  const saving = useMutation({
    mutationFn: () => updateHook(hookId, { mapping }),
    onSuccess: async () => {
      await refreshHooks(queryClient)
      notifications.show({ color: 'green', message: text.mapping.saved })
      await navigate({ to: '/hooks/$hookId', params: { hookId } })
    },
  })
  const pick = (path: string) => setDraft((before) => withPath(before, selected, path))
  return (
    <Grid gap="md">
      <Grid.Col span={{ base: 12, md: 6 }}>
        <Stack gap="md" className={classes.beside}>
          {isReadOnly ? <Alert>{text.mapping.readOnly}</Alert> : null}
          <SamplePanel
            hookId={hookId}
            bodies={bodies}
            bodyId={bodyId}
            onBody={(next) => {
              setSample(undefined)
              setBodyId(next)
            }}
            sample={sample}
            onSample={setSample}
            target={isReadOnly ? null : targetOf(draft, selected)}
            onPick={pick}
          />
          <MappingPreview hookId={hookId} mapping={mapping} sample={sample} />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 6 }}>
        <Stack gap="md">
          <MappingFields
            draft={draft}
            setDraft={setDraft}
            selected={selected}
            onSelect={setSelected}
            isReadOnly={isReadOnly}
          />
          {saving.isError ? (
            <Alert color="red" role="alert" title={text.mapping.failed}>
              {messageOf(saving.error)}
            </Alert>
          ) : null}
          {isReadOnly ? null : (
            <div>
              <Button loading={saving.isPending} onClick={() => saving.mutate()} mr="xs">
                {text.mapping.save}
              </Button>
              <ButtonLink variant="default" to="/hooks/$hookId" params={{ hookId }}>
                {text.mapping.cancel}
              </ButtonLink>
            </div>
          )}
        </Stack>
      </Grid.Col>
    </Grid>
  )
}

/** The name of the field that a click in the sample fills; null if none is chosen. */
function targetOf({ rows, conditions }: Draft, selected: string | null): string | null {
  const row = rows.find(({ id }) => id === selected)
  if (row) return nameOf(row)
  const condition = conditions.findIndex(({ id }) => id === selected)
  return condition < 0 ? null : text.mapping.conditionPath(condition + 1)
}

/** The draft with a path in the chosen field. A property without a name gets the name of the value. */
function withPath({ rows, conditions }: Draft, selected: string | null, path: string): Draft {
  return {
    rows: rows.map((row) =>
      row.id === selected
        ? { ...row, from: 'path', text: path, key: row.name === null && row.key === '' ? keyOfPath(path) : row.key }
        : row,
    ),
    conditions: conditions.map((each) => (each.id === selected ? { ...each, path } : each)),
  }
}
