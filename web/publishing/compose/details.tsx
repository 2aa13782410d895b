import { Field } from '../../design/parts/field.tsx'
import { Select } from '../../design/parts/select.tsx'
import { say } from '../../shell/words.ts'
import type { CampaignChoice, NetworkChoice } from './choices.ts'
import { type Draft, isLink } from './draft.ts'

const visibilities = ['PUBLIC', 'UNLISTED', 'PRIVATE'] as const

/** What a post has beside its text; open where something of it is written or wrong. */
export function Details({
  draft,
  change,
  campaigns,
  choices,
  errorOf,
}: {
  readonly draft: Draft
  readonly campaigns: readonly CampaignChoice[]
  readonly choices: readonly NetworkChoice[]
  change(changes: Partial<Draft>): void
  errorOf(field: string): string | undefined
}) {
  const { title, link, firstComment, campaignId, tags, visibility, platforms } = draft
  const isWrong = ['title', 'link', 'firstComment', 'visibility', 'tags'].some(errorOf)
  const isUsed = [title, link, firstComment, campaignId, tags, visibility].some(each => each !== '')
  const comments = choices.some(({ platform, capabilities }) => platforms.includes(platform) && capabilities.firstComment)
  return (
    <details className="more" open={isWrong || isUsed || undefined}>
      <summary>{say('compose.more')}</summary>
      <div className="stack">
        <Field label={say('compose.title-field')} value={title} onChange={value => change({ title: value })} wrong={errorOf('title')} />
        <Field
          label={say('compose.link')}
          type="url"
          value={link}
          onChange={value => change({ link: value })}
          wrong={link !== '' && !isLink(link) ? say('compose.link-wrong') : errorOf('link')}
        />
        {(comments || firstComment !== '') && (
          <Field
            label={say('compose.first-comment')}
            value={firstComment}
            onChange={value => change({ firstComment: value })}
            rows={2}
            wrong={errorOf('firstComment')}
          />
        )}
        <Select
          label={say('compose.visibility')}
          choices={[{ id: 'NETWORK', name: say('compose.visibility-NETWORK') }, ...visibilities.map(id => ({ id, name: say(`compose.visibility-${id}`) }))]}
          value={visibility || 'NETWORK'}
          onChange={id => change({ visibility: visibilities.find(each => each === id) ?? '' })}
        />
        {campaigns.length > 0 && (
          <Select
            label={say('compose.campaign')}
            choices={[{ id: 'NONE', name: say('compose.no-campaign') }, ...campaigns]}
            value={campaignId || 'NONE'}
            onChange={id => change({ campaignId: id === 'NONE' ? '' : id })}
          />
        )}
        <Field label={say('posts.tags')} value={tags} onChange={value => change({ tags: value })} hint={say('compose.tags-hint')} wrong={errorOf('tags')} />
      </div>
    </details>
  )
}
