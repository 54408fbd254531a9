import { Button, Modal, Stack } from '@mantine/core'
import { IconLayoutDashboard } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { call } from '../../api/client.ts'
import { queryOf, refreshAfter } from '../../api/operation.ts'
import type { CreateReportInput, Dashboard } from '../../api/types.ts'
import { useMay } from '../../session/may.ts'
import { FindField, FOUND_MAX } from '../../ui/find-field.tsx'
import { Form, FormError } from '../../ui/form.tsx'
import { NameField } from '../../ui/form-dialog.tsx'
import { isolated } from '../../ui/text.tsx'
import { freePlace } from './grid-layout.ts'
import { readDashboard, saveDashboard } from './save.ts'
import { text } from './text.ts'
import { SIZES, TILES_MAX } from './tile-size.ts'

const words = text.add

/** What is added: a report, or a question that becomes one. */
type Added = { reportId: string } | Pick<CreateReportInput, 'kind' | 'question'>

/** Adds the question of a page to a dashboard, for those who may. */
export function AddToDashboard(asked: Pick<CreateReportInput, 'kind' | 'question'>) {
  const [isOpen, setOpen] = useState(false)
  if (!useMay('segments:write')) return null
  return (
    <>
      <Button
        variant="default"
        size="xs"
        leftSection={<IconLayoutDashboard size={14} aria-hidden />}
        onClick={() => setOpen(true)}
      >
        {words.button}
      </Button>
      {isOpen ? <AddDialog added={asked} onClose={() => setOpen(false)} /> : null}
    </>
  )
}

/** Chooses a dashboard, or names a new one, and opens it with the report as its last tile. */
export function AddDialog({ added, onClose }: { added: Added; onClose: () => void }) {
  const [name, setName] = useState('')
  const [newName, setNewName] = useState('')
  const adding = useAdding(added, name)
  const isNamed = 'reportId' in added || name.trim() !== ''
  return (
    <Modal opened onClose={onClose} title={words.title}>
      <Stack>
        {'reportId' in added ? null : <NameField label={words.report} value={name} onChange={setName} />}
        <FindField
          label={words.find}
          placeholder={words.placeholder}
          what={words.what}
          useFound={useFound}
          offersAll
          keyOf={({ dashboard_id }) => dashboard_id}
          nameOf={(each) => each.name}
          disabled={!isNamed || adding.isPending}
          onChoose={(chosen) => adding.mutate(chosen)}
        />
        <Form onSubmit={() => isNamed && newName.trim() !== '' && !adding.isPending && adding.mutate(newName.trim())}>
          <NameField label={words.new} value={newName} onChange={setNewName} />
          <Button type="submit" disabled={!isNamed || newName.trim() === ''} loading={adding.isPending}>
            {words.submit}
          </Button>
        </Form>
        <FormError error={adding.error} />
      </Stack>
    </Modal>
  )
}

function useAdding(added: Added, name: string) {
  const [queryClient, router] = [useQueryClient(), useRouter()]
  // After a failure, the report is not created again.
  const created = useRef<string>(null)
  const reportId = async () => {
    if ('reportId' in added) return added.reportId
    created.current ??= (await call('createReport', { ...added, name: name.trim() })).report.report_id
    return created.current
  }
  return useMutation({
    mutationFn: async (chosen: Dashboard | string): Promise<Dashboard> => {
      if (typeof chosen === 'string') {
        const tile = { report_id: await reportId(), x: 0, y: 0, ...SIZES.chart }
        return (await call('createDashboard', { name: chosen, tiles: [tile] })).dashboard
      }
      const read = await readDashboard(chosen.dashboard_id)
      const { tiles } = read.dashboard
      if (tiles.length >= TILES_MAX) throw new Error(words.full(isolated(read.dashboard.name.slice(0, 80)), TILES_MAX))
      const tile = { report_id: await reportId(), ...freePlace(tiles, SIZES.chart) }
      return (await saveDashboard(queryClient, read, { tiles: [...tiles, tile] })).dashboard
    },
    onSuccess: async ({ dashboard_id: dashboardId }) => {
      await Promise.all([refreshAfter(queryClient, 'createReport'), refreshAfter(queryClient, 'createDashboard')])
      await router.navigate({ to: '/insights/dashboards/$dashboardId', params: { dashboardId } })
    },
  })
}

function useFound(search: string) {
  const { data, ...found } = useQuery(queryOf('listDashboards', { search: search || undefined, limit: FOUND_MAX }))
  return { ...found, items: data?.dashboards }
}
