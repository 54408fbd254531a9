import { Badge, Group, Text } from '@mantine/core'
import { IconArrowDownRight, IconArrowUpRight } from '@tabler/icons-react'
import type { Input } from '../../api/client.ts'
import { Foreign } from '../../ui/text.tsx'
import { formatShare } from '../axis.ts'
import { PeopleFigure } from '../people-panel.tsx'
import { changeOf } from '../trend-result.tsx'
import { text } from './text.ts'
import classes from './tile.module.css'

const words = text.tile

/** The main figure of an answer. */
export interface Headline {
  /** What it counts. */
  name: string
  value: number | null
  /** In the period before; undefined if that was not asked for. */
  before?: number | null | undefined
  format: (value: number | null | undefined) => string
  /** Who is behind it, and how many. */
  people?: { at: Input<'insightPeople'>['at']; count: number | null | undefined } | undefined
}

/** One large figure, and how it changed. */
export function TileNumber({ name, value, before, format, people }: Headline) {
  const change = changeOf({
    total: value,
    ...(typeof before === 'number' ? { before: { total: before, points: [] } } : {}),
  })
  return (
    <div className={classes.number}>
      <Text fz={32} fw={650} lh={1.15}>
        <PeopleFigure name={name} at={people?.at} value={people?.count}>
          {format(value)}
        </PeopleFigure>
      </Text>
      <Text size="sm" c="dimmed" lineClamp={1}>
        <Foreign max={120}>{name}</Foreign>
      </Text>
      {before === undefined ? null : (
        <Group gap={6} mt={4}>
          {change ? <Change share={change} /> : null}
          <Text size="xs" c="dimmed">
            {words.before(format(before))}
          </Text>
        </Group>
      )}
    </div>
  )
}

function Change({ share }: { share: number }) {
  const Icon = share > 0 ? IconArrowUpRight : IconArrowDownRight
  return (
    <Badge size="sm" variant="light" color={share > 0 ? 'teal' : 'orange'} leftSection={<Icon size={12} aria-hidden />}>
      {share > 0 ? words.rise(formatShare(share)) : words.fall(formatShare(-share))}
    </Badge>
  )
}
