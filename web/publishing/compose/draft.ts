import type { Network } from '../brand/networks.ts'
import { tagsOf } from '../brand/tags.ts'
import type { ComposedPostFragment, ComposePostsInput, PostVisibility } from './compose.generated.ts'

/** A picture or film that a draft carries. */
export interface DraftMedium {
  readonly assetId: string
  /** What it shows, for people who cannot see it; empty leaves it to the library's own words. */
  readonly altText: string
  readonly name: string
  readonly previewUrl: string | null
}

/** What one network gets in place of what all get. */
export interface Override {
  readonly copy?: string
  /** Kind and id of the place on the network, `PAGE 123`. */
  readonly target?: string
}

/** What somebody writes, before it is posts. */
export interface Draft {
  readonly copy: string
  readonly platforms: readonly Network[]
  /** The time on the brand's walls at which it goes out; empty: no time yet. */
  readonly wall: string
  readonly title: string
  readonly link: string
  readonly firstComment: string
  readonly campaignId: string
  /** As they are typed, parted by commas. */
  readonly tags: string
  readonly visibility: PostVisibility | ''
  readonly media: readonly DraftMedium[]
  readonly overrides: Readonly<Partial<Record<Network, Override>>>
  /** Texts of the posts that follow the first; with one or more it is a thread. */
  readonly later: readonly string[]
  /** The draft that keeps it, once there is one. */
  readonly post: Pick<ComposedPostFragment, 'id' | 'platform' | 'version'> | null
}

export const emptyDraft: Draft = {
  copy: '',
  platforms: [],
  wall: '',
  title: '',
  link: '',
  firstComment: '',
  campaignId: '',
  tags: '',
  visibility: '',
  media: [],
  overrides: {},
  later: [],
  post: null,
}

const key = (id: string) => `supergraph.draft.compose.${id}`

/** What was typed in this tab and is not sent yet; it survives a reload. @param id of the draft that is edited, or `new` */
export function keptDraft(id: string): Draft {
  try {
    return { ...emptyDraft, ...(JSON.parse(sessionStorage.getItem(key(id)) ?? '{}') as Partial<Draft>) }
  } catch {
    return emptyDraft
  }
}

/** Keeps it in this tab. */
export const keepDraft = (id: string, draft: Draft): void => sessionStorage.setItem(key(id), JSON.stringify(draft))

/** Forgets it: it was sent or discarded. */
export const forgetDraft = (id: string): void => sessionStorage.removeItem(key(id))

/** Whether a link is whole: while it is typed it is none yet. */
export const isLink = (link: string): boolean => /^https?:\/\/[^\s/]+\.[^\s]+$/.test(link) && URL.canParse(link)

/** Whether there is something to keep or send. */
export const hasContent = ({ copy, media }: Draft): boolean => copy.trim() !== '' || media.length > 0

/** What all networks get, as the graph takes it; null takes out what was there. */
export function contentOf({ copy, title, link, firstComment, campaignId, tags, visibility, media }: Draft) {
  return {
    copy,
    title: title.trim() || null,
    link: isLink(link) ? link : null,
    firstComment: firstComment.trim() || null,
    campaignId: campaignId || null,
    tags: tagsOf(tags),
    visibility: visibility || null,
    media: media.map(({ assetId, altText }) => ({ assetId, altText: altText.trim() || null })),
  }
}

/** The draft as one network gets it: its own text, where it has one, and its own place. */
export function fieldsFor(draft: Draft, platform: Network) {
  const { copy, target } = draft.overrides[platform] ?? {}
  return { ...contentOf(draft), ...(copy !== undefined && { copy }), ...(target !== undefined && { target: targetOf(target) }) }
}

/** The draft as posts of all its networks, for checks and for writing them. */
export function composeInput(draft: Draft, brandId: string): ComposePostsInput {
  const overrides = draft.platforms.flatMap(platform => {
    const { copy, target } = draft.overrides[platform] ?? {}
    if (copy === undefined && target === undefined) return []
    return [{ platform, ...(copy !== undefined && { copy }), ...(target !== undefined && { target: targetOf(target) }) }]
  })
  return { brandId, platforms: draft.platforms, ...contentOf(draft), ...(overrides.length > 0 && { overrides }) }
}

function targetOf(target: string) {
  const [kind, externalId] = [target.slice(0, target.indexOf(' ')), target.slice(target.indexOf(' ') + 1)]
  return { kind: kind as 'PAGE', externalId }
}
