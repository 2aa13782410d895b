import { Rss } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Dialog } from '../../design/parts/dialog.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { Secret } from '../../shell/parts/secret.tsx'
import { useRead } from '../../shell/read.ts'
import { Failure } from '../../shell/region.tsx'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { ConfirmFeedDocument, CreateFeedDocument, FeedDocument, RevokeFeedDocument } from './calendar.generated.ts'

/** The address at which other calendars read this one: made here, shown once, and ended here. */
export function FeedButton({ brandId }: { readonly brandId: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button kind="quiet" icon={Rss} onPress={() => setOpen(true)}>
        {say('feed.title')}
      </Button>
      {isOpen && <FeedDialog brandId={brandId} onClose={() => setOpen(false)} />}
    </>
  )
}

function FeedDialog({ brandId, onClose }: { readonly brandId: string; onClose(): void }) {
  const { data, retry } = useRead(FeedDocument, { brandId })
  const [made, make] = useMutation(CreateFeedDocument)
  const [ended, end] = useMutation(RevokeFeedDocument)
  const [confirmed, confirm] = useMutation(ConfirmFeedDocument)
  const [url, setUrl] = useState<string | null>(null)
  const feed = data?.calendarFeed
  const problem = problemOf(made.error ?? ended.error ?? confirmed.error)
  const input = { brandId }
  return (
    <Dialog title={say('feed.title')} onClose={onClose}>
      {url ? (
        <Secret value={url} label={say('feed.address')} once={say('feed.once')} onKept={onClose} />
      ) : (
        <>
          <p>{feed ? say('feed.since', { when: moment(feed.createdAt) }) : say('feed.none')}</p>
          {feed?.resting && <p>{say('feed.resting')}</p>}
          {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
          <div className="actions">
            {feed && (
              <Button kind="danger" isDisabled={ended.fetching} onPress={() => void end({ input }).then(answer => !answer.error && retry())}>
                {say('feed.revoke')}
              </Button>
            )}
            {feed?.resting && (
              <Button isDisabled={confirmed.fetching} onPress={() => void confirm({ input }).then(answer => !answer.error && retry())}>
                {say('feed.confirm')}
              </Button>
            )}
            <Button
              kind="primary"
              isDisabled={made.fetching}
              onPress={() => void make({ input }).then(answer => setUrl(answer.data?.createCalendarFeed?.url ?? null))}
            >
              {say(feed ? 'feed.renew' : 'feed.create')}
            </Button>
          </div>
        </>
      )}
    </Dialog>
  )
}
