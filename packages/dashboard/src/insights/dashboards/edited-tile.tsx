import { ActionIcon, Menu } from '@mantine/core'
import { IconArrowsMove, IconCheck, IconDots, IconPencil, IconResize, IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type RefObject, useState } from 'react'
import { queryOf } from '../../api/operation.ts'
import { useMenuButton } from '../../ui/use-menu-button.ts'
import type { Defaults } from './asked.ts'
import classes from './edited-tile.module.css'
import { moved, putAt, resizedTo } from './grid-layout.ts'
import { Handle } from './handle.tsx'
import { ReportTile } from './report-tile.tsx'
import { text } from './text.ts'
import { TileCard, TileText } from './tile.tsx'
import { SIZES, type TileDraft, VIEWS, type View } from './tile-size.ts'
import { WriteText } from './write-text.tsx'

const words = text.edit

interface EditedTileProps {
  tile: TileDraft
  tiles: TileDraft[]
  grid: RefObject<HTMLUListElement | null>
  defaults: Defaults
  onChange: (tiles: TileDraft[]) => void
  /** Tells screen readers what has changed. */
  onSay: (words: string) => void
  onRemove: (name: string) => void
}

/** A tile with handles by which the pointer or the arrow keys move and resize it, and a menu that does the same. */
export function EditedTile({ tile, tiles, grid, defaults, onChange, onSay, onRemove }: EditedTileProps) {
  const { key, report_id: reportId, text: written = '', view } = tile
  const report = useQuery({ ...queryOf('getReport', { report_id: reportId ?? '' }), enabled: reportId !== undefined })
  const name = (reportId === undefined ? written : (report.data?.report.name ?? text.page.loading)).slice(0, 60)
  const show = (changed: TileDraft[]) => {
    onChange(changed)
    const now = changed.find((each) => each.key === key) ?? tile
    const isMoved = now.x !== tile.x || now.y !== tile.y
    onSay(isMoved ? words.placed(name, now.x + 1, now.y + 1) : words.sized(name, now.width, now.height))
  }
  const move = (right: number, down: number) => show(moved(tiles, key, right, down))
  const resize = (right: number, down: number) =>
    show(resizedTo(tiles, key, { width: tile.width + right, height: tile.height + down }))
  const tools = (
    <TileMenu
      name={name}
      tile={tile}
      onChange={(changes) => onChange(tiles.map((each) => (each.key === key ? { ...each, ...changes } : each)))}
      onResize={(size) =>
        show(
          resizedTo(
            tiles.map((each) => (each.key === key ? { ...each, view: size } : each)),
            key,
            SIZES[size],
          ),
        )
      }
      move={move}
      resize={resize}
      onRemove={() => onRemove(name)}
    />
  )
  const mover = (
    <Handle
      label={words.move(name)}
      className={classes.mover}
      icon={<IconArrowsMove size={16} aria-hidden />}
      grid={grid}
      onStep={move}
      onDrag={() => (right, down) => show(putAt(tiles, key, { x: tile.x + right, y: tile.y + down }))}
    />
  )
  return (
    <div className={classes.edited}>
      {reportId === undefined ? (
        <TileCard isText title={text.tile.text} handle={mover} tools={tools}>
          <TileText>{written}</TileText>
        </TileCard>
      ) : (
        <ReportTile reportId={reportId} view={view} defaults={defaults} handle={mover} tools={tools} />
      )}
      <Handle
        label={words.resize(name)}
        className={classes.resizer}
        icon={<IconResize size={16} aria-hidden />}
        grid={grid}
        onStep={resize}
        onDrag={() => resize}
      />
    </div>
  )
}

interface TileMenuProps {
  name: string
  tile: TileDraft
  onChange: (changes: Partial<TileDraft>) => void
  /** Shows its report in another way, at the size that suits it. */
  onResize: (view: View) => void
  move: (right: number, down: number) => void
  resize: (right: number, down: number) => void
  onRemove: () => void
}

function TileMenu({ name, tile, onChange, onResize, move, resize, onRemove }: TileMenuProps) {
  const { button, afterFocus } = useMenuButton()
  const [isWriting, setWriting] = useState(false)
  return (
    <>
      <Menu position="bottom-end" width={200}>
        <Menu.Target>
          <ActionIcon ref={button} variant="subtle" color="gray" size={24} aria-label={words.more(name)}>
            <IconDots size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {tile.text === undefined ? (
            <>
              <Menu.Label>{words.view}</Menu.Label>
              {VIEWS.map((view) => (
                <Menu.Item
                  key={view}
                  rightSection={
                    (tile.view ?? 'chart') === view ? <IconCheck size={16} aria-label={words.current} /> : null
                  }
                  onClick={() => onResize(view)}
                >
                  {words.views[view]}
                </Menu.Item>
              ))}
            </>
          ) : (
            <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={afterFocus(() => setWriting(true))}>
              {words.editText}
            </Menu.Item>
          )}
          <Menu.Divider />
          {words.steps.map(({ label, right, down, isSize }) => (
            <Menu.Item
              key={label}
              closeMenuOnClick={false}
              onClick={() => (isSize ? resize(right, down) : move(right, down))}
            >
              {label}
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item color="red" leftSection={<IconTrash size={16} aria-hidden />} onClick={onRemove}>
            {words.remove}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isWriting ? (
        <WriteText
          written={tile.text ?? ''}
          onDone={(written) => {
            onChange({ text: written })
            setWriting(false)
          }}
          onClose={() => setWriting(false)}
        />
      ) : null}
    </>
  )
}
