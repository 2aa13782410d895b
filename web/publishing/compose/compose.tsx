import { CircleAlert, Send } from 'lucide-react'
import { useCallback, useState } from 'react'
import { Button } from '../../design/parts/button.tsx'
import { Field } from '../../design/parts/field.tsx'
import { Note } from '../../design/parts/status.tsx'
import { usePath, useSearch } from '../../shell/address.tsx'
import { useUnsaved } from '../../shell/data/unsaved.ts'
import { Page } from '../../shell/page.tsx'
import { useRead } from '../../shell/read.ts'
import { Failure, Region } from '../../shell/region.tsx'
import { momentAtWall, timeOfDay, wallTime } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { type Brand, useBrand } from '../brand/brand.ts'
import { useChecks } from './checks.ts'
import { ComposeChoicesDocument, type ComposeChoicesQuery, ComposeDraftDocument, type ComposedPostFragment } from './compose.generated.ts'
import { Details } from './details.tsx'
import { type Draft, emptyDraft, hasContent, keptDraft } from './draft.ts'
import { Attachments } from './media.tsx'
import { Networks } from './networks.tsx'
import { Previews } from './preview.tsx'
import { useSavedDraft } from './saved.ts'
import { Discard, Sending } from './send.tsx'
import { LaterPosts } from './thread.tsx'
import { When } from './when.tsx'

/** One text for several networks: kept as it is typed, checked by the graph, sent at a time in the brand's zone. */
export default function ComposePage() {
  const id = /^\/compose\/([^/]+)$/.exec(usePath())?.[1] ?? null
  const { brand, isKnown } = useBrand()
  const choices = useRead(ComposeChoicesDocument, { brandId: brand?.id ?? '' }, { pause: !brand })
  const draft = useRead(ComposeDraftDocument, { id: id ?? '' }, { pause: id === null })
  const isReady = choices.data !== undefined && (id === null || draft.data?.post)
  const failed = choices.state === 'error' ? choices : draft.state === 'error' || (draft.data && !draft.data.post) ? draft : null
  const state = isKnown && !brand ? 'empty' : failed ? 'error' : 'loading'
  return (
    <Page title={say('compose.title')}>
      {isReady && brand ? (
        <Composer key={id ?? 'new'} id={id ?? 'new'} brand={brand} choices={choices.data!} post={draft.data?.post ?? null} />
      ) : (
        <Region
          state={state}
          lines={7}
          problem={failed?.problem ?? null}
          {...(failed && { retry: failed.retry })}
          empty={{ icon: Send, sentence: say('brand.none') }}
        />
      )}
    </Page>
  )
}

interface ComposerProps {
  readonly id: string
  readonly brand: Brand
  readonly choices: ComposeChoicesQuery
  readonly post: ComposedPostFragment | null
}

const wallIn = (at: string | null): string => (at && /^\d{4}-\d\d-\d\d$/.test(at) ? `${at}T09:00` : at && /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(at) ? at : '')

/** A draft of the graph, as it is edited here. */
const draftOf = (post: ComposedPostFragment, zone: string): Draft => ({
  ...emptyDraft,
  copy: post.copy,
  platforms: [post.platform],
  wall: post.scheduledAt ? wallTime(post.scheduledAt, zone) : '',
  title: post.title ?? '',
  link: post.link ?? '',
  firstComment: post.firstComment?.text ?? '',
  campaignId: post.campaignId ?? '',
  tags: post.tags.join(', '),
  visibility: post.visibility ?? '',
  media: post.media.flatMap(({ altText, asset }) =>
    asset ? [{ assetId: asset.id, altText: altText ?? '', name: asset.title || asset.filename, previewUrl: asset.previewUrl ?? null }] : [],
  ),
  post: { id: post.id, platform: post.platform, version: post.version },
})

function beginning({ id, choices, post, brand }: ComposerProps, search: URLSearchParams): Draft {
  const kept = keptDraft(id)
  if (hasContent(kept) || kept.post) return kept
  if (post) return draftOf(post, brand.timeZone)
  const list = (choices.integrations ?? []).filter(each => each !== null)
  const first = list.find(({ connectable, connected }) => connectable && connected) ?? list.find(({ connectable }) => connectable)
  return {
    ...emptyDraft,
    copy: search.get('copy') ?? '',
    link: search.get('link') ?? '',
    campaignId: search.get('campaign') ?? '',
    platforms: first ? [first.platform] : [],
    wall: wallIn(search.get('at')),
  }
}

function Composer(props: ComposerProps) {
  const { id, brand, choices } = props
  const search = useSearch()
  const [draft, setDraft] = useState(() => beginning(props, search))
  const take = useCallback((post: NonNullable<Draft['post']>) => setDraft(before => ({ ...before, post })), [])
  const saved = useSavedDraft(id, brand.id, draft, take)
  useUnsaved(saved.isUnsaved)
  const checks = useChecks(brand.id, draft)
  const change = useCallback((changes: Partial<Draft>) => setDraft(before => ({ ...before, ...changes })), [])
  const networks = (choices.integrations ?? []).filter(each => each !== null)
  const campaigns = (choices.campaigns?.nodes ?? []).filter(each => each !== null)
  const errorOf = (field: string) => checks.flatMap(({ problems }) => problems).find(each => each.field === field && each.severity === 'ERROR')?.message
  const at = draft.wall === '' ? null : momentAtWall(draft.wall, brand.timeZone)
  return (
    <div className="columns">
      <Region state="ready">
        <Networks choices={networks} draft={draft} change={change} />
        <Field label={say('compose.text')} value={draft.copy} onChange={copy => change({ copy })} rows={8} wrong={errorOf('copy')} />
        <LaterPosts brandId={brand.id} draft={draft} change={change} choices={networks} />
        <Attachments brand={brand} draft={draft} change={change} wrong={errorOf('media')} />
        <When brand={brand} draft={draft} change={change} wrong={errorOf('scheduledAt')} />
        <Details draft={draft} change={change} campaigns={campaigns} choices={networks} errorOf={errorOf} />
        {saved.problem && <Failure sentence={saved.problem.sentence} requestId={saved.problem.requestId} />}
        {saved.theirs && (
          <div className="problem" role="alert">
            <Note meaning="warning" icon={CircleAlert}>
              {say('compose.stale')}
            </Note>
            <blockquote className="text" dir="auto">
              {saved.theirs.copy}
            </blockquote>
            <div className="actions">
              <Button onPress={saved.keepMine}>{say('compose.keep-mine')}</Button>
              <Button
                onPress={() => {
                  setDraft(draftOf(saved.theirs!, brand.timeZone))
                  saved.keepMine()
                }}
              >
                {say('compose.take-theirs')}
              </Button>
            </div>
          </div>
        )}
        <Sending id={id} brand={brand} draft={draft} at={at} settled={saved.settled} />
        <div className="actions">
          <p className="quiet small grow" role="status">
            {saved.at && !saved.isUnsaved ? say('compose.saved', { time: timeOfDay(saved.at) }) : say('compose.saves')}
          </p>
          <Discard id={id} draft={draft} settled={saved.settled} />
        </div>
      </Region>
      <Previews draft={draft} change={change} checks={checks} choices={networks} />
    </div>
  )
}
