<?php
// What WordPress reads in place of /etc/wordpress: everything is in the test's own folder.
$folder = getenv( 'BLOG_FOLDER' );

define( 'DB_NAME', 'wordpress' );
define( 'DB_USER', 'root' );
define( 'DB_PASSWORD', '' );
define( 'DB_HOST', "localhost:$folder/db.sock" );
define( 'DB_CHARSET', 'utf8mb4' );
define( 'DB_COLLATE', '' );
define( 'WP_HOME', getenv( 'BLOG_URL' ) );
define( 'WP_SITEURL', getenv( 'BLOG_URL' ) );
define( 'WP_CONTENT_DIR', "$folder/content" );
// A test sees only what it did, and nothing is asked of wordpress.org.
define( 'DISABLE_WP_CRON', true );
define( 'AUTOMATIC_UPDATER_DISABLED', true );
define( 'WP_HTTP_BLOCK_EXTERNAL', true );
$table_prefix = 'wp_';

require_once ABSPATH . 'wp-settings.php';
