import { expect } from 'vitest'
import { png } from '../../subgraphs/publishing/media/files.ts'
import { type Exchanges, list, made } from './exchange.ts'

/** Routes of the library, of pictures that models draw, and of what is talked about. */
export const media: Exchanges = world => {
  const anAsset = async () => {
    const { graph, brandId, owner } = world()
    const request = new Request(`http://localhost:4000/publishing/api/media?brandId=${brandId}&filename=lighthouse.png`, {
      method: 'POST',
      body: new Uint8Array(png()),
    })
    return ((await (await graph.platform.publishing.http!(request, owner)).json()) as { id: string }).id
  }
  const aFolder = async () =>
    (await world().ask('owner', 'POST', '/media/folders', { brandId: world().brandId, name: `Folder ${folders++}` })).json.id as string
  let folders = 1
  const asset = (id: string) => `/media/${id}`
  const folder = (id: string) => `/media/folders/${id}`
  const ofBrand = (path: string) => () => `${path}?brandId=${world().brandId}`
  const drawing = () => ({ brandId: world().brandId, prompt: 'A lighthouse at dusk' })
  const drawn = { status: 201, json: { images: [{ prompt: 'A lighthouse at dusk', assetId: expect.any(String), previewBroken: false }] } }
  const report = { status: 200, json: { trends: expect.any(Array), fetchedAt: expect.any(String), expiresAt: expect.any(String) } }

  return {
    'GET /publishing/api/media': { path: ofBrand('/media'), forbidden: 'stranger', answers: list('media') },
    'POST /publishing/api/media/import': {
      path: () => '/media/import',
      body: () => ({ brandId: world().brandId, url: `${world().files}/harbour.png` }),
      forbidden: 'viewer',
      answers: () => ({ ...made('/publishing/api/media')(), headers: { etag: '"1-ready"' }, json: { source: 'import', filename: 'harbour.png' } }),
    },
    'GET /publishing/api/media/:id': {
      path: asset,
      make: anAsset,
      forbidden: 'stranger',
      answers: id => ({ status: 200, json: { id, kind: 'image', status: 'ready', filename: 'lighthouse.png' } }),
    },
    'PUT /publishing/api/media/:id': {
      path: asset,
      make: anAsset,
      body: () => ({ altText: 'A lighthouse', tags: ['sea'] }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, altText: 'A lighthouse', tags: ['sea'], version: 2 } }),
    },
    'DELETE /publishing/api/media/:id': { path: asset, make: anAsset, forbidden: 'viewer', answers: () => ({ status: 204, text: '' }), once: true },
    'GET /publishing/api/media/folders': { path: ofBrand('/media/folders'), forbidden: 'stranger', answers: list('folders') },
    'POST /publishing/api/media/folders': {
      path: () => '/media/folders',
      body: () => ({ brandId: world().brandId, name: 'Summer' }),
      forbidden: 'viewer',
      answers: made('/publishing/api/media/folders'),
    },
    'PUT /publishing/api/media/folders/:id': {
      path: folder,
      make: aFolder,
      body: () => ({ name: 'Winter' }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, name: 'Winter', version: 2 } }),
    },
    'DELETE /publishing/api/media/folders/:id': { path: folder, make: aFolder, forbidden: 'viewer', answers: () => ({ status: 204, text: '' }), once: true },
    'GET /publishing/api/images': { path: ofBrand('/images'), forbidden: 'stranger', answers: list('images') },
    'POST /publishing/api/images': { path: () => '/images', body: drawing, forbidden: 'viewer', answers: () => drawn },
    'POST /publishing/api/internal/images': {
      path: () => '/internal/images',
      body: drawing,
      forbidden: 'owner',
      by: 'agents',
      answers: () => drawn,
    },
    'GET /publishing/api/trends': { path: ofBrand('/trends'), forbidden: 'stranger', answers: () => report },
    'POST /publishing/api/trends/refresh': {
      path: () => '/trends/refresh',
      body: () => ({ brandId: world().brandId }),
      forbidden: 'viewer',
      answers: () => report,
    },
    'POST /publishing/api/internal/trends/refresh': {
      path: () => '/internal/trends/refresh',
      body: () => ({ brandId: world().brandId }),
      forbidden: 'owner',
      by: 'agents',
      answers: () => report,
    },
  }
}
