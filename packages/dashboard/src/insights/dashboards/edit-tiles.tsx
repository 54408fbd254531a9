import { Button, Card, Group, Modal, Stack, Text, VisuallyHidden } from '@mantine/core'
import { IconPlus, IconTextPlus } from '@tabler/icons-react'
import { useBlocker } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import type { Report, Tile } from '../../api/types.ts'
import { FormError } from '../../ui/form.tsx'
import { text as shared } from '../../ui/text.ts'
import { AddReport } from './add-report.tsx'
import type { Defaults } from './asked.ts'
import { EditedTile } from './edited-tile.tsx'
import { arranged, freePlace } from './grid-layout.ts'
import { type ReadDashboard, useSaving } from './save.ts'
import { text } from './text.ts'
import { PlacedTiles } from './tile-grid.tsx'
import { SIZES, TILES_MAX, type TileDraft } from './tile-size.ts'
import { WriteText } from './write-text.tsx'

const words = text.edit

interface EditTilesProps {
  read: ReadDashboard
  defaults: Defaults
  onDone: () => void
}

/** The tiles of a dashboard while they are added, moved, resized and removed, until that is saved or discarded. */
export function EditTiles({ read, defaults, onDone }: EditTilesProps) {
  const [first] = useState(() => draftsOf(read.dashboard.tiles))
  const [tiles, setTiles] = useState<TileDraft[]>(first)
  const [said, setSaid] = useState('')
  const [adding, setAdding] = useState<'report' | 'text' | null>(null)
  const added = useRef(0)
  const grid = useRef<HTMLUListElement>(null)
  const addButton = useRef<HTMLButtonElement>(null)
  const saving = useSaving(read, onDone)
  const isChanged = JSON.stringify(tiles) !== JSON.stringify(first)
  const isFull = tiles.length >= TILES_MAX
  const add = (content: Pick<Tile, 'report_id' | 'text'>, name: string) => {
    const place = freePlace(tiles, SIZES[content.text === undefined ? 'chart' : 'text'])
    setTiles(arranged([...tiles, { ...content, ...place, key: `added-${++added.current}` }]))
    setSaid(words.added(name))
    setAdding(null)
  }
  const remove = (key: string, name: string) => {
    setTiles(arranged(tiles.filter((tile) => tile.key !== key)))
    setSaid(words.removed(name))
    // Its menu is gone.
    setTimeout(() => addButton.current?.focus())
  }
  return (
    <>
      <Card mb="md" p="xs">
        <Group justify="space-between" gap="xs">
          <Group gap="xs">
            <Button
              ref={addButton}
              variant="default"
              size="xs"
              leftSection={<IconPlus size={14} aria-hidden />}
              aria-disabled={isFull}
              onClick={() => (isFull ? undefined : setAdding('report'))}
            >
              {words.addReport}
            </Button>
            <Button
              variant="default"
              size="xs"
              leftSection={<IconTextPlus size={14} aria-hidden />}
              aria-disabled={isFull}
              onClick={() => (isFull ? undefined : setAdding('text'))}
            >
              {words.addText}
            </Button>
            <Text size="xs" c="dimmed">
              {isFull ? words.full(TILES_MAX) : words.hint}
            </Text>
          </Group>
          <Group gap="xs">
            <Button variant="default" size="xs" onClick={onDone}>
              {words.discard}
            </Button>
            <Button
              size="xs"
              loading={saving.isPending}
              onClick={() => (isChanged ? saving.mutate({ tiles: tiles.map(storedOf) }) : onDone())}
            >
              {words.save}
            </Button>
          </Group>
        </Group>
      </Card>
      <FormError error={saving.error} />
      <PlacedTiles tiles={tiles} ref={grid}>
        {(tile) => (
          <EditedTile
            tile={tile}
            tiles={tiles}
            grid={grid}
            defaults={defaults}
            onChange={setTiles}
            onSay={setSaid}
            onRemove={(name) => remove(tile.key, name)}
          />
        )}
      </PlacedTiles>
      <VisuallyHidden role="status">{said}</VisuallyHidden>
      {adding === 'report' ? (
        <AddReport
          onChoose={({ report_id, name }: Report) => add({ report_id }, name)}
          onClose={() => setAdding(null)}
        />
      ) : null}
      {adding === 'text' ? (
        <WriteText
          written=""
          onDone={(written) => add({ text: written }, text.tile.text)}
          onClose={() => setAdding(null)}
        />
      ) : null}
      <Leaving isChanged={isChanged && !saving.isSuccess} />
    </>
  )
}

/** Warns before a page with changes is left. */
function Leaving({ isChanged }: { isChanged: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname,
    enableBeforeUnload: isChanged,
    disabled: !isChanged,
    withResolver: true,
  })
  return (
    <Modal opened={status === 'blocked'} onClose={() => reset?.()} title={words.leave.title}>
      <Stack>
        <Text size="sm">{words.leave.explanation}</Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={() => reset?.()}>
            {shared.cancel}
          </Button>
          <Button color="red" onClick={() => proceed?.()}>
            {words.leave.confirm}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

function draftsOf(tiles: readonly Tile[]): TileDraft[] {
  return arranged(tiles.map((tile, index) => ({ ...tile, key: `stored-${index}` })))
}

function storedOf({ key: _key, ...tile }: TileDraft): Tile {
  return tile
}
