import { createSegment } from '../api/segments.ts'
import { AnchorLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { SegmentForm } from './segment-form.tsx'
import { text } from './text.ts'

export function NewSegmentPage() {
  return (
    <>
      <PageHeader
        title={text.form.newTitle}
        description={text.form.newDescription}
        breadcrumb={
          <AnchorLink inherit to="/segments">
            {text.form.breadcrumb}
          </AnchorLink>
        }
      />
      <SegmentForm submitLabel={text.form.create} save={createSegment} />
    </>
  )
}
