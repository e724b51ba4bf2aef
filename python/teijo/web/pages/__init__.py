"""What people look at: each page with what it shows and what it takes."""
