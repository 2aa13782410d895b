-- compatible: programs of before leave them out.
-- What a file shows of itself beside its size: of media that came before nobody has looked.
alter table publishing.media_assets
  -- Whether a picture moves, as some in WebP and PNG do.
  add column animated boolean not null default false,
  -- As the film names them (ISO 14496-12, four characters); null for other media and where it does not say.
  add column video_codec text,
  add column audio_codec text;
