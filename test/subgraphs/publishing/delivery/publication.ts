import type { Publication } from '../../../../subgraphs/publishing/network/publication.ts'

/** What a network is asked to publish, with what a test says of it: a text alone, unless it says more. */
export const publication = (said: Partial<Publication> & Pick<Publication, 'accessToken' | 'account' | 'copy'>): Publication => ({
  placeToken: null,
  organizationId: null,
  title: null,
  link: null,
  visibility: null,
  tags: [],
  target: null,
  media: [],
  inReplyTo: null,
  handle: null,
  ...said,
})
