import { Text } from '@mantine/core'
import type { Icon } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Time } from './event-row.tsx'
import classes from './timeline.module.css'

interface StoryRowProps {
  icon: Icon
  at: string
  children: ReactNode
  /** A second, smaller line. */
  more?: ReactNode
}

/** A line of a timeline that is no event. */
export function StoryRow({ icon: Sign, at, children, more }: StoryRowProps) {
  return (
    <li className={classes.row}>
      <span className={classes.icon} aria-hidden>
        <Sign size={16} stroke={1.7} />
      </span>
      <div className={classes.words}>
        <Text size="sm" fw={550} className={classes.line}>
          {children}
        </Text>
        {more ? (
          <Text size="xs" c="dimmed" component="div">
            {more}
          </Text>
        ) : null}
      </div>
      <Time at={at} />
    </li>
  )
}
