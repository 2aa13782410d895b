import { describe, expect, it } from 'vitest'
import { tagsOf } from '../../web/publishing/brand/tags.ts'
import { composeInput, contentOf, type Draft, emptyDraft, fieldsFor, hasContent, isLink } from '../../web/publishing/compose/draft.ts'

const draft: Draft = { ...emptyDraft, copy: 'For all', platforms: ['X', 'LINKEDIN'], tags: '#spring, sale ,, sale' }

describe('tagsOf', () => {
  it('parts by commas, drops signs and empty ones, and names each once', () => {
    expect(tagsOf('#spring, sale ,, sale')).toEqual(['spring', 'sale'])
    expect(tagsOf('')).toEqual([])
  })
})

describe('isLink', () => {
  it.each([
    ['https://example.com/a', true],
    ['http://example.com', true],
    ['https://exa', false],
    ['example.com', false],
    ['javascript:alert(1)', false],
  ])('takes %s as %s', (link, expected) => {
    expect(isLink(link)).toBe(expected)
  })
})

describe('contentOf', () => {
  it('sends null for what is empty or not whole yet, so that a saved value leaves', () => {
    expect(contentOf({ ...draft, link: 'https://exa', title: ' ' })).toMatchObject({
      link: null,
      title: null,
      firstComment: null,
      campaignId: null,
      visibility: null,
    })
  })

  it('leaves words for a picture to the library when none are written', () => {
    const media = [{ assetId: 'a', altText: ' ', name: 'A', previewUrl: null }]
    expect(contentOf({ ...draft, media }).media).toEqual([{ assetId: 'a', altText: null }])
  })
})

describe('composeInput', () => {
  it('names an override for chosen networks alone', () => {
    const overrides = { X: { copy: 'For X' }, FACEBOOK: { copy: 'For nobody' } }
    expect(composeInput({ ...draft, overrides }, 'b').overrides).toEqual([{ platform: 'X', copy: 'For X' }])
    expect(composeInput(draft, 'b')).not.toHaveProperty('overrides')
  })

  it('takes a place on a network apart into kind and id', () => {
    const overrides = { X: { target: 'PAGE urn:li:org 5' } }
    expect(composeInput({ ...draft, overrides }, 'b').overrides).toEqual([{ platform: 'X', target: { kind: 'PAGE', externalId: 'urn:li:org 5' } }])
  })
})

describe('fieldsFor', () => {
  it('gives a network its own text, an empty one too', () => {
    expect(fieldsFor({ ...draft, overrides: { X: { copy: '' } } }, 'X').copy).toBe('')
    expect(fieldsFor(draft, 'X').copy).toBe('For all')
  })
})

describe('hasContent', () => {
  it('counts a picture without text', () => {
    expect(hasContent(emptyDraft)).toBe(false)
    expect(hasContent({ ...emptyDraft, media: [{ assetId: 'a', altText: '', name: 'A', previewUrl: null }] })).toBe(true)
  })
})
