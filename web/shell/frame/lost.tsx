import { MapPinOff } from 'lucide-react'
import { Empty } from '../../design/parts/states.tsx'
import { Page } from '../page.tsx'
import { say } from '../words.ts'

/** There is no such page. */
export const Lost = () => (
  <Page title={say('lost.title')}>
    <section className="region" data-state="empty">
      <Empty icon={MapPinOff} sentence={say('lost.sentence')} />
    </section>
  </Page>
)
