import {
  type Icon,
  IconBolt,
  IconBrowser,
  IconClick,
  IconDoorExit,
  IconFileText,
  IconFilter,
  IconLink,
  IconPlayerPlay,
  IconRobot,
  IconSparkles,
  IconUserCheck,
  IconUserEdit,
} from '@tabler/icons-react'

const KNOWN: Record<string, { words: string; icon: Icon }> = {
  page_view: { words: 'Viewed a page', icon: IconBrowser },
  page_leave: { words: 'Left a page', icon: IconDoorExit },
  first_visit: { words: 'First visit', icon: IconSparkles },
  button_click: { words: 'Clicked a button', icon: IconClick },
  link_click: { words: 'Clicked a link', icon: IconLink },
  form_submit: { words: 'Submitted a form', icon: IconFileText },
  form_submission: { words: 'Submitted a form', icon: IconFileText },
  video_play: { words: 'Played a video', icon: IconPlayerPlay },
  video_pause: { words: 'Paused a video', icon: IconPlayerPlay },
  video_milestone: { words: 'Reached a video milestone', icon: IconPlayerPlay },
  video_complete: { words: 'Finished a video', icon: IconPlayerPlay },
  video_conversion: { words: 'Left an e-mail address in a video', icon: IconPlayerPlay },
  contact_created: { words: 'Contact created', icon: IconUserCheck },
  contact_updated: { words: 'Contact updated', icon: IconUserEdit },
  contact_deleted: { words: 'Contact deleted', icon: IconUserEdit },
  contact_identified: { words: 'Identified', icon: IconUserCheck },
  lifecycle_stage_changed: { words: 'Lifecycle stage changed', icon: IconUserEdit },
  segment_entered: { words: 'Entered a segment', icon: IconFilter },
  segment_exited: { words: 'Left a segment', icon: IconFilter },
  agent_action_proposed: { words: 'An agent proposed an action', icon: IconRobot },
  agent_action_executed: { words: 'An agent acted', icon: IconRobot },
  agent_action_failed: { words: "An agent's action failed", icon: IconRobot },
}

/** The label of an event; custom names are unchanged. */
export function eventWords(event: string): string {
  return KNOWN[event]?.words ?? event.slice(0, 200)
}

export function eventIcon(event: string): Icon {
  return KNOWN[event]?.icon ?? IconBolt
}
